"""Supervised Trio tasks that run beside the requests."""
