"""Backups of the database: the file, PostgreSQL's programs, dumping, restoring, and what follows a restore."""
