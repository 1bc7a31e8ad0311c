"""The embedded PostgreSQL: its programs, its cluster, its data folder, starting and stopping."""
