"""What the backend of a service does with an API key: users, subscriptions, figures, and the service itself."""
