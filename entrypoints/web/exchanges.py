"""One request and its response, between the server and the application.

Quart-Trio would run two tasks and send the end of a response apart from the rest. This class handles the request in
its own task, watches for a disconnect in a second one, and sends a response body in one message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio
from quart.utils import encode_headers
from quart.wrappers.response import DataBody
from quart_trio.asgi import TrioASGIHTTPConnection

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable
    from quart.typing import ResponseTypes

RESPONSE_SECONDS_MAX: Final = 60.0


class Exchange(TrioASGIHTTPConnection):
    """Responds to one request, unless the client disconnects before."""

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Handle the request and send its response."""
        request = self._create_request_from_scope(send)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.handle_messages, nursery, request, receive)
            response = await self.app.handle_request(request)
            with trio.move_on_after(RESPONSE_SECONDS_MAX):
                await self._send_response(send, response)
            nursery.cancel_scope.cancel()

    async def _send_response(self, send: ASGISendCallable, response: ResponseTypes) -> None:
        body = response.response
        if not isinstance(body, DataBody):
            await super()._send_response(send, response)
            return
        await send(
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": encode_headers(response.headers),
                "trailers": False,
            }
        )
        await send({"type": "http.response.body", "body": body.data, "more_body": False})
