"""Webhooks of an organization and their deliveries."""
