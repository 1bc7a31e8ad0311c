"""Invitations to organizations and the answers to them."""
