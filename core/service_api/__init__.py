"""The interface for a service's backend, which calls with an API key: users, subscriptions, figures, the service."""
