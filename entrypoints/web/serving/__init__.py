"""Serving requests: connections, routes, credentials, the request context of a handler, and its answers."""
