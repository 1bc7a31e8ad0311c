"""The protocol on a connection: HTTP/1.1 as Hypercorn and h11 implement it, and no other.

Hypercorn would switch to WebSocket, and to HTTP/2 without TLS, for any client that proposes it. Gatehouse needs
neither, so it ignores such proposals, as a server may (RFC 9110, 7.8). Ambiguous messages are refused before they
become a request, with the same error body as everywhere. Plain requests, which are nearly all, pass h11 by
(`input/strict_parsing.py`).

`Protocol` reads the connection itself, and leaves to Hypercorn how a response is sent and a connection goes on. The
class that it extends is not documented, so pyproject.toml pins the minor version of Hypercorn
(ops/decisions/0115-private-parts-of-the-stack.md).
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from itertools import chain
from typing import Any, Final, cast

import h11
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import Body, EndBody, Response, StreamClosed
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState
from quart.utils import encode_headers

from core.wording import Wording
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.connection.streams import Stream
from entrypoints.web.serving.connection.strict_parsing import HEADERS_MAX, PlainRequest, StrictConnection

# A client that reads slowly keeps its copy for a minute, and there may be thousands.
COPIED_BYTES_MAX: Final = 2**16
_VERSIONS: Final = (b"1.0", b"1.1")
_AUTHORITY: Final = re.compile(rb"https?://[^/?#]+", re.IGNORECASE)
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Za-z:.]+\])(?::[0-9]*)?")
_OBJECTIONS: Final = {
    431: Wording(
        "The headers are too large. Send at most %(maximum)s headers with 16 KiB in all.", maximum=HEADERS_MAX
    ),
    501: "Send the body with Content-Length or chunked; no other transfer coding is supported.",
}


class Protocol(H11Protocol):
    """Hypercorn's HTTP/1.1 protocol over one connection, without upgrades and with our error bodies."""

    def __init__(
        self,
        application: Application,
        config: Config,
        context: WorkerContext,
        requests: TaskGroup,
        *,
        client: tuple[str, int],
        server: tuple[str, int],
        send: Callable[[Event], Awaitable[None]],
    ) -> None:
        app, is_tls = ASGIWrapper(application), False
        super().__init__(app, config, context, requests, ConnectionState({}), is_tls, client, server, send)
        self.connection = self._parser = StrictConnection(head_bytes_max=config.h11_max_incomplete_size)
        self._application = application
        self._spawn: Callable[[Callable[[], Awaitable[None]]], None] = requests.spawn  # pyright: ignore[reportUnknownMemberType] - of any function

    @property
    def is_between_requests(self) -> bool:
        """Whether no request has begun: none is being answered, and no part of the next one has arrived."""
        return self._parser.is_between_requests

    @property
    def has_partial_head(self) -> bool:
        """Whether only a part of the next request's line and headers has arrived."""
        return self._parser.has_partial_head

    def awaits_last_response(self) -> bool:
        """Return whether a client that has ended its side of the connection waits for the response to a request."""
        self._parser.hand_over()
        if self._parser.their_state is h11.DONE:
            self._parser.receive_data(b"")
            self._parser.next_event()
        return self.stream is not None and self._parser.has_last_request

    async def respond(self, start: Any, body: bytes, *, is_last: bool) -> None:
        """Send a part of the application's response, with the message that starts it for the first one."""
        if start is not None and is_last and await self._respond_at_once(start, body):
            return
        self._parser.hand_over()
        if start is not None:
            await self.stream_send(Response(STREAM_ID, start["headers"], start["status"]))
        if body:
            await self.stream_send(Body(STREAM_ID, body))
        if is_last:
            await self.stream_send(EndBody(STREAM_ID))
            await self.stream_send(StreamClosed(STREAM_ID))

    async def _respond_at_once(self, start: Any, body: bytes) -> bool:
        """Send the whole response to a plain request; return False, and send nothing, if h11 has to send it."""
        headers = chain(start["headers"], _date_at(int(time.time())))
        head = self._parser.plain_response(start["status"], headers, body)
        if head is None:
            return False
        await self._send_together(head, body)
        self.stream = None
        if self.context.terminated.is_set() or self._parser.has_last_request:
            # While it was sent, the server has stopped or the client has ended its side; no other request is begun.
            self._parser.hand_over()
            await self.send(Closed())
        else:
            self._parser.end_plain()
            await self.can_read.set()
            await self.send(Updated(idle=True))
        return True

    async def handle(self, event: Event) -> None:
        """Take bytes from the client, or the end of the connection."""
        if isinstance(event, RawData):
            self._parser.receive_data(event.data)
            await self._read()
        else:
            await super().handle(event)

    async def stream_send(self, event: StreamEvent) -> None:
        """Pass an event of the application's response on."""
        if isinstance(event, Response) and self._parser.their_state in {h11.SEND_BODY, h11.CLOSED}:
            # The rest of the body will not be read, so the start of the next request would not be found; or the client
            # sends no other request.
            event = replace(event, headers=[*event.headers, (b"connection", b"close")])
        elif isinstance(event, StreamClosed):
            # A plain request without a response ends the connection.
            self._parser.hand_over()
        await super().stream_send(event)

    async def _read(self) -> None:
        while True:
            if self._parser.plain is None:
                request = self._parser.take_plain()
                if request is None:
                    await self._read_by_h11()
                    return
                await self._begin_plain(request)
            elif self._parser.plain.missing:
                if not self._parser.has_unread:
                    return
                await self._pass_body(self._parser.take_body())
            elif self._parser.has_unread:
                # The client does not wait for the response before it sends the next request.
                await self.can_read.clear()
                await self.can_read.wait()
            else:
                return

    async def _begin_plain(self, request: PlainRequest) -> None:
        await self.send(Updated(idle=False))
        self._begin(request.method, request.target, request.headers, "1.1")
        await self._pass_body(request.body)

    async def _pass_body(self, part: bytes) -> None:
        stream, request = cast("Stream | None", self.stream), self._parser.plain
        assert stream is not None, "a body arrives without a request"
        assert request is not None, "a body arrives for a request of h11"
        if not request.missing:
            stream.end()
        if part:
            await stream.append(part)

    async def _read_by_h11(self) -> None:
        while True:
            if self._parser.they_are_waiting_for_100_continue:
                await super().stream_send(Response(STREAM_ID, [], HTTPStatus.CONTINUE))
            try:
                event = self._parser.next_event()
            except h11.RemoteProtocolError as error:
                await self._end_malformed(error)
                return
            match event:
                case h11.Request():
                    await self.send(Updated(idle=False))
                    await self._begin_of_h11(event)
                case h11.PAUSED:
                    await self.can_read.clear()
                    await self.can_read.wait()
                case h11.Data() if self.stream is not None:
                    await self.stream.handle(Body(STREAM_ID, bytes(event.data)))
                case h11.EndOfMessage() if self.stream is not None:
                    await self.stream.handle(EndBody(STREAM_ID))
                case _:
                    return

    async def _begin_of_h11(self, request: h11.Request) -> None:
        path = _path(request)
        objection = _objection(request)
        if path is None or objection is not None:
            await self._refuse(objection or "The request line has no path.", is_to_head=request.method == b"HEAD")
            await self.send(Closed())
            return
        self._begin(request.method, path, request.headers, request.http_version.decode())

    def _begin(self, method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]], http_version: str) -> None:
        stream = Stream(
            self._application, self, method=method, target=target, headers=headers, http_version=http_version
        )
        # In place of Hypercorn's own, of which the protocol calls `handle` alone.
        self.stream = cast("HTTPStream", stream)
        self._spawn(stream.answer)

    async def _end_malformed(self, error: h11.RemoteProtocolError) -> None:
        """Refuse a malformed request, unless a response to it has begun, and end the connection."""
        if self._parser.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            message = _OBJECTIONS.get(error.error_status_hint, "The request is malformed.")
            stream = cast("Stream | None", self.stream)
            await self._refuse(message, is_to_head=stream is not None and stream.is_head)
        await self.send(Closed())

    async def _refuse(self, message: str, *, is_to_head: bool) -> None:
        response = self._application.malformed(message, peer=self.client[0] if self.client else None)
        headers = [*encode_headers(response.headers), (b"connection", b"close")]
        await super().stream_send(Response(STREAM_ID, headers, response.status_code))
        if not is_to_head:
            await super().stream_send(Body(STREAM_ID, await response.get_data(as_text=False)))
        await super().stream_send(EndBody(STREAM_ID))

    async def _send_together(self, head: bytes, body: bytes) -> None:
        """Send both in one piece if the body is short; many responses may share a large one, which is not copied."""
        if len(body) > COPIED_BYTES_MAX:
            await self.send(RawData(head))
            head = b""
        if head or body:
            await self.send(RawData(head + body))


def _path(request: h11.Request) -> bytes | None:
    """Return the request target as a path with its query, or None when it has no path.

    The host that it may contain is ignored (RFC 9112, 3.2).
    """
    target = request.target
    if target.startswith(b"/") or (target == b"*" and request.method == b"OPTIONS"):
        return target
    authority = _AUTHORITY.match(target)
    if authority is None:
        return None
    path = target[authority.end() :]
    return path if path.startswith(b"/") else b"/" + path


def _objection(request: h11.Request) -> str | None:
    """Return what is wrong with a request that h11 accepts, or None."""
    version, headers = request.http_version, request.headers
    names = [name for name, _ in headers]
    if version not in _VERSIONS:
        return "Use HTTP/1.1."
    if b"transfer-encoding" in names and (b"content-length" in names or version == b"1.0"):
        # Servers that disagree about the end of a body can be made to see different requests (RFC 9112, 6.3 and 11.2).
        return "It is not clear where the body ends: send either Content-Length or Transfer-Encoding."
    if not all(_HOST.fullmatch(value) for name, value in headers if name == b"host"):
        return "The Host header is not a valid host."
    return None


@lru_cache(maxsize=1)
def _date_at(second: int) -> tuple[tuple[bytes, bytes]]:
    return ((b"date", formatdate(second, usegmt=True).encode()),)
