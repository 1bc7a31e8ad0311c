"""One request and its answer, between the server and the application.

Quart-Trio would run two tasks for it and send the end of an answer apart from the rest. This one has the listening done
beside it, by a task that mostly comes to nothing, and says everything at once.
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
    """Answers one request, unless the client hangs up before."""

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer."""
        request = self._create_request_from_scope(send)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.handle_messages, nursery, request, receive)
            response = await self.app.handle_request(request)
            with trio.move_on_after(RESPONSE_SECONDS_MAX):
                await self._send_response(send, response)
            nursery.cancel_scope.cancel()

    async def _send_response(self, send: ASGISendCallable, response: ResponseTypes) -> None:
        whole = response.response
        if not isinstance(whole, DataBody):
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
        await send({"type": "http.response.body", "body": whole.data, "more_body": False})
