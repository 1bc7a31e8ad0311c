"""The mailbox of development mode."""
