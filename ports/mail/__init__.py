"""Mails, and the outbox from which they are sent."""
