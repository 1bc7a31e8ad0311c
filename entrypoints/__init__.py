"""The ways in: HTTP, pages and the command line, and `main`, the one module that knows every layer."""
