"""What an organization sets up of its connections and keeps: fields, keys, checks, and changes with their ends."""
