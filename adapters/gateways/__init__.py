"""Connections to other services: mail so far."""
