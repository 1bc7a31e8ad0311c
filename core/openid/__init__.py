"""Gatehouse for relying parties: an OAuth authorization server and an OpenID provider."""
