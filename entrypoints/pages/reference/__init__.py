"""The reference page for developers."""
