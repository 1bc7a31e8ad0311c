"""Passkeys."""
