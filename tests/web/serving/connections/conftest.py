"""The running server, for the tests in this folder."""

from tests.web.serving.connections.wires import complaints, server

__all__ = ["complaints", "server"]
