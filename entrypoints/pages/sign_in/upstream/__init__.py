"""Signing in through other providers: the three external ones, and the identity providers of organizations."""
