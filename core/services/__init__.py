"""Services of organizations, grants on them, and their end users."""
