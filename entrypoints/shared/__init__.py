"""What the JSON handlers and the pages of an area have in common."""
