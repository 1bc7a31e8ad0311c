"""What `ops/seed` does: a database as full as that of an installation that has been used for years."""
