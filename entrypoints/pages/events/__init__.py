"""The words of pages for the actions of the audit logs and for the types of events."""
