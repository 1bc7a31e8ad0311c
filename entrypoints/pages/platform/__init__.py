"""The pages of the platform, for its owners and its support."""
