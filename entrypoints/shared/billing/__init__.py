"""Buying plans: what pages and the interface share."""
