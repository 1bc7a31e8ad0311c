"""What the core asks of the world: protocols without logic."""
