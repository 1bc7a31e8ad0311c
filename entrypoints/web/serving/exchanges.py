"""One request and its response, between the server and the application.

Quart-Trio would run two tasks and send the end of a response apart from the rest. This class handles the request in
the task that calls it, which the server cancels when the client disconnects, and sends a response body in one message.
A body that is made while it is sent is sent in parts: the next part is made when the client has taken the one before.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from contextlib import AbstractAsyncContextManager
from typing import Final, cast

import structlog
import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable
from quart import Response
from quart.typing import ResponseTypes
from quart.utils import encode_headers
from quart.wrappers.response import DataBody
from quart_trio.asgi import TrioASGIHTTPConnection

from core.errors import Refusal
from entrypoints.web.serving.incoming import GatehouseRequest

# For making and sending one part of a body that is made while it is sent; `connections.py` limits every other one.
RESPONSE_SECONDS_MAX: Final = 60.0
# For all parts together: an export of the longest log takes an hour.
PARTS_SECONDS_MAX: Final = 4 * 3600.0

log = structlog.get_logger(__name__)


class Exchange(TrioASGIHTTPConnection):
    """Responds to one request, unless the client disconnects before."""

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Handle the request and send its response."""
        request = GatehouseRequest.of(self.scope, receive)
        try:
            await self._respond(send, await self.app.handle_request(request))
        finally:
            # A request and its call know each other. The garbage collector would have to find each pair.
            request.forget_call()

    async def _respond(self, send: ASGISendCallable, response: ResponseTypes) -> None:
        body = response.response
        await send(
            {
                "type": "http.response.start",
                "status": response.status_code,
                "headers": encode_headers(response.headers),
                "trailers": False,
            }
        )
        if isinstance(body, DataBody):
            await send({"type": "http.response.body", "body": body.data, "more_body": False})
            return
        # Without the last message the connection is closed, so the client sees that the body is incomplete.
        if self.scope["method"] == "HEAD" or await _send_parts(send, cast("Response", response)):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_parts(send: ASGISendCallable, response: Response) -> bool:
    """Send a body as it is made; return whether it was sent completely and in time."""
    with trio.move_on_after(PARTS_SECONDS_MAX):
        async with cast("AbstractAsyncContextManager[AsyncIterable[bytes]]", response.response) as body:
            parts = aiter(body)
            while True:
                with trio.move_on_after(RESPONSE_SECONDS_MAX) as limit:
                    try:
                        part = await anext(parts, None)
                    except Refusal as refusal:
                        log.warning("response.cut_short", error_code=refusal.code.name)
                        return False
                    if part is None:
                        return True
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                if limit.cancelled_caught:
                    break
    log.warning("response.cut_short", seconds=RESPONSE_SECONDS_MAX)
    return False
