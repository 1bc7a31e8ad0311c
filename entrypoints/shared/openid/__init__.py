"""What Gatehouse is for relying parties: an OAuth authorization server and an OpenID provider."""
