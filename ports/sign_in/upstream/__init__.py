"""Signing in through other providers: storage, and requests to them."""
