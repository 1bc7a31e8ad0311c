"""Sessions, callers, access and refresh tokens, and the keys that sign them."""
