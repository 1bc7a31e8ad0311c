"""Testing a connection by a real sign-in, and switching it on after that."""
