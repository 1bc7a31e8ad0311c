"""Settings of an organization: its mail server, its branding, its domain."""
