"""The HTTP interface: how a route is declared, and one module of routes for each capability."""
