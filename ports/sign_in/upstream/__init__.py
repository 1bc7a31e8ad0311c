"""Storage of what signing in through other providers takes."""
