"""Accounts: registration, addresses, passwords, profile, imports."""
