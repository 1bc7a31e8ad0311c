"""The command `gatehouse` and what operators do with it."""
