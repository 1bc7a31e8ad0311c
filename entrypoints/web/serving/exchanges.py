"""One request and its response, between the server and the application.

A request is Quart's, with a body that is received when it is awaited, and quick headers.

Quart-Trio would run two tasks and send the end of a response apart from the rest. This class handles the request in
the task that calls it, which the server cancels when the client disconnects, and sends a response body in one message.
A body that is made while it is sent is sent in parts: the next part is made when the client has taken the one before.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Generator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Self, cast

import structlog
import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, HTTPRequestEvent, HTTPScope
from quart import Response
from quart.typing import ResponseTypes
from quart.utils import encode_headers
from quart.wrappers.response import DataBody
from quart_trio.asgi import TrioASGIHTTPConnection
from quart_trio.wrappers import TrioRequest
from werkzeug.datastructures import EnvironHeaders, Headers, MIMEAccept
from werkzeug.exceptions import BadRequestKeyError, RequestEntityTooLarge, RequestTimeout
from werkzeug.http import parse_accept_header

from core.errors import Refusal
from core.limits import BODY_BYTES_MAX, LARGE_BODY_BYTES_MAX
from entrypoints.web.serving.admission.large_bodies import LargeBodies
from entrypoints.web.serving.admission.unfinished_bodies import UnfinishedBodies
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.paths import Paths
from entrypoints.web.serving.routes import Route

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


BODY_SECONDS_MAX: Final = 20
# More than any browser sends; what follows is not read, because reading takes quadratic time: 16 KiB took two seconds.
ACCEPT_CHARACTERS_MAX: Final = 500
# What Quart calls the peer of a connection that has no address.
_NO_PEER: Final = "<local>"


class RequestHeaders(EnvironHeaders):
    """The headers of a request; a look-up does not compare all names, which are in lower case.

    The base class is werkzeug's for headers that are read elsewhere and never changed; its own environment is empty.
    """

    def __init__(self, peer: str, sent: Iterable[tuple[bytes, bytes]]) -> None:
        super().__init__({})
        # Quart reads the address of the peer from a header, which comes before one of this name that the client sends.
        self._sent = [("remote-addr", peer)]
        self._sent += [(name.decode("latin1"), value.decode("latin1")) for name, value in sent]
        # The first value of each name.
        self._values = dict(reversed(self._sent))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Return all headers, as they were sent."""
        return iter(self._sent)

    def __getitem__(self, key: str) -> str:
        """Return the first value of a header."""
        try:
            return self._values[key.lower()]
        except KeyError:
            raise BadRequestKeyError(key) from None

    def __contains__(self, key: object) -> bool:
        """Return whether the client has sent a header."""
        return isinstance(key, str) and key.lower() in self._values

    def get(  # pyright: ignore[reportIncompatibleMethodOverride] - one signature for all of werkzeug's overloads
        self,
        key: str,
        default: Any = None,
        type: Callable[[str], Any] | None = None,  # noqa: A002 - werkzeug's name
    ) -> Any:
        """Return the first value of a header, and what `type` makes of it; the default without one."""
        value = self._values.get(key.lower())
        if value is None or type is None:
            return default if value is None else value
        with suppress(ValueError):
            return type(value)
        return default

    def getlist(
        self,
        key: str,
        type: Callable[[str], Any] | None = None,  # noqa: A002 - werkzeug's name
    ) -> list[Any]:
        """Return all values of a header, and what `type` makes of them."""
        name, values = key.lower(), list[Any]()
        if name not in self._values:
            return values
        for each, value in self._sent:
            if each == name:
                with suppress(ValueError):
                    values.append(value if type is None else type(value))
        return values


class RequestBody:
    """A body that is received when it is awaited, with the limit of its route."""

    def __init__(self, expected_bytes: int | None, bytes_max: int | None) -> None:
        del expected_bytes
        self._bytes_max = bytes_max
        self._data = bytearray()
        self._is_whole = False
        self._receive: ASGIReceiveCallable

    def receive_from(self, receive: ASGIReceiveCallable) -> None:
        """Say where the body comes from."""
        self._receive = receive

    def limit(self, bytes_max: int) -> None:
        """Refuse the body when it is larger than this."""
        self._bytes_max = bytes_max

    def __await__(self) -> Generator[Any, None, bytes]:
        """Receive the rest of the body, and return all of it; raise `RequestEntityTooLarge`."""
        return self._whole().__await__()

    async def is_larger_than(self, number: int) -> bool:
        """Receive this many bytes, or a little more; return whether there are more."""
        while not self._is_whole and len(self._data) <= number:
            await self._receive_part()
        return len(self._data) > number

    async def _whole(self) -> bytes:
        while not self._is_whole:
            await self._receive_part()
            if self._bytes_max is not None and len(self._data) > self._bytes_max:
                raise RequestEntityTooLarge
        return bytes(self._data)

    async def _receive_part(self) -> None:
        message = cast("HTTPRequestEvent", await self._receive())
        self._data += message["body"]
        self._is_whole = not message["more_body"]


class GatehouseRequest(TrioRequest):
    """A request with its call and, once they are known, its route and why it is refused."""

    body_class = RequestBody
    # The paths of the application, and the documents that were generated from its routes.
    paths: Paths
    generated: dict[Any, Any]
    # Where long work for a body runs, and what has arrived of bodies.
    large_bodies: LargeBodies
    unfinished_bodies: UnfinishedBodies
    call: Call
    route: Route | None = None
    refusal: Refusal | None = None

    @property
    def accept_mimetypes(self) -> MIMEAccept:
        """The media types that the client accepts, by the beginning of its header."""
        return parse_accept_header(self.headers.get("Accept", "")[:ACCEPT_CHARACTERS_MAX], MIMEAccept)

    def forget_call(self) -> None:
        """Let go of the call, which holds this request, when both have been answered."""
        self.__dict__.pop("call", None)

    async def has_large_body(self) -> bool:
        """Return whether the body is larger than routes take, without reading more of it than that."""
        if (self.content_length or 0) > BODY_BYTES_MAX:
            return True
        with trio.move_on_after(BODY_SECONDS_MAX):
            return await cast("RequestBody", self.body).is_larger_than(BODY_BYTES_MAX)
        raise RequestTimeout

    @classmethod
    def of(cls, scope: HTTPScope, receive: ASGIReceiveCallable) -> Self:
        """Return the request of an ASGI scope."""
        peer = (scope["client"] or (_NO_PEER,))[0]
        request = cls(
            scope["method"],
            scope["scheme"],
            scope["path"],
            scope["query_string"],
            RequestHeaders(peer, scope["headers"]),
            "",
            scope["http_version"],
            scope,
            max_content_length=LARGE_BODY_BYTES_MAX,
            body_timeout=BODY_SECONDS_MAX,
            send_push_promise=_push_nothing,
        )
        cast("RequestBody", request.body).receive_from(receive)
        return request


async def _push_nothing(_path: str, _headers: Headers) -> None:
    """Push nothing: HTTP/1.1 has no such messages."""
