"""Reading what was recorded: audit logs and login analytics."""
