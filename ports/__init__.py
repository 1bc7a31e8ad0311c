"""What the core needs from outside: protocols without logic."""
