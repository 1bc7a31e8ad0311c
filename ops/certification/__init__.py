"""What the certification of Gatehouse at the OpenID Foundation needs: see README.md."""
