"""Supervised Trio tasks with mailboxes: what happens between requests."""
