"""Organizations, members, roles, ownership, tiers, and who may do what."""
