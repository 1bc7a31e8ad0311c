"""Organizations, members, roles, ownership, tiers, and access control."""
