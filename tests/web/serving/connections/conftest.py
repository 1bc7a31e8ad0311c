"""The running server, for the tests in this folder."""

from tests.web.serving.connections.wires import complaints, server, slow

__all__ = ["complaints", "server", "slow"]
