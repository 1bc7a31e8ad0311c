"""The embedded PostgreSQL: its programs, its cluster, its data folder, and who starts and stops it."""
