"""The command line `gatehouse` for operators."""
