"""The entry points: HTTP, pages and the command line, and `main`, which connects the layers."""
