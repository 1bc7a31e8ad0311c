"""A client for answers that the server may cut short.

The library's client waits for the last message of the body, which never comes then.
"""

from __future__ import annotations

from typing import Any, cast

from quart.typing import TestHTTPConnectionProtocol
from quart_trio.testing.client import TrioClient
from quart_trio.testing.connections import TestHTTPConnection

from tests.application import Client


class EndingConnection(TestHTTPConnection):
    """A connection that ends with the application's call, as a server's does."""

    async def __aenter__(self) -> Any:
        application, self.app = self.app, cast("Any", self._call)
        self._application = application
        try:
            return await super().__aenter__()
        finally:
            self.app = application

    async def _call(self, *arguments: Any) -> None:
        try:
            await cast("Any", self._application)(*arguments)
        finally:
            self._client_send.close()


class EndingClient(TrioClient):
    """The library's client with connections that end."""

    http_connection_class: type[TestHTTPConnectionProtocol] = EndingConnection


def take_cut_answers(client: Client) -> None:
    """Let every answer to this client end with the application's call."""
    client.application.test_client_class = cast("Any", EndingClient)
