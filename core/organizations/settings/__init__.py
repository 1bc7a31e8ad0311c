"""What an organization sets for itself: its mail server, its branding, its domain."""
