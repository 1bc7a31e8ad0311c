"""Mails: what they say, and the outbox they wait in."""
