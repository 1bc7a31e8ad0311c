"""Setting up the stream of the audit log."""
