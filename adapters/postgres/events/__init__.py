"""Event types, audit actions, and how both are recorded."""
