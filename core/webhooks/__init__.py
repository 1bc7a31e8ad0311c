"""Outbound webhooks, their deliveries, and the feed of events."""
