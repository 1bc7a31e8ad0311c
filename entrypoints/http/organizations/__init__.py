"""Organizations, members, roles, ownership, tiers and authorization."""
