"""The pages of one's own subscriptions, and of the embedded sandbox provider."""
