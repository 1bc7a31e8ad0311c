"""Signing in by every method, from the proof to the session."""
