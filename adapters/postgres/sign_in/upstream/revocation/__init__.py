"""What ends when a provider or an organization says so: sessions, and links at a move to another provider."""
