"""One client's connection: HTTP/1.1 as Hypercorn and h11 implement it, and no other protocol.

Hypercorn would switch to WebSocket, and to HTTP/2 without TLS, for any client that proposes it. Gatehouse needs
neither, so it ignores such proposals, as a server may (RFC 9110, 7.8). Ambiguous messages are refused before they
become a request, with the same error body as everywhere. A client that is still sending when the response is complete,
or that has ended its side of the connection before, can still receive the response.

Which of many connections gives way to a new one is in `open_connections.py`.

`Protocol` overrides private methods of Hypercorn, so pyproject.toml pins its minor version.
"""

from __future__ import annotations

import math
import re
import select
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import h11
import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.events import Closed, RawData, Updated
from hypercorn.protocol.events import Request, Response
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.typing import ConnectionState
from quart.utils import encode_headers

from core.wording import Wording
from entrypoints.web.input.strict_parsing import HEADERS_MAX, StrictConnection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hypercorn.config import Config
    from hypercorn.events import Event
    from hypercorn.protocol.events import Event as StreamEvent
    from hypercorn.trio.worker_context import WorkerContext
    from hypercorn.typing import H11SendableEvent

    from entrypoints.web.serving.application import Application

# At most the maximal length of headers at a time, so that longer headers are refused however they arrive.
RECEIVE_BYTES_MAX: Final = 2**14
SEND_BYTES_MAX: Final = 2**16
# The deadline for each chunk of SEND_BYTES_MAX; a slower client is disconnected.
SEND_SECONDS_MAX: Final = 20.0
# The deadline for the rest of a request line and headers, once their first byte has arrived.
HEAD_SECONDS_MAX: Final = 20.0
# How long to keep reading after the last response: a connection that is closed while bytes arrive is reset, and the
# reset may overtake the response (RFC 9112, 9.6).
LINGER_SECONDS_MAX: Final = 2.0

_DISCONNECTED: Final = (trio.BrokenResourceError, trio.ClosedResourceError)
_VERSIONS: Final = (b"1.0", b"1.1")
_AUTHORITY: Final = re.compile(rb"https?://[^/?#]+", re.IGNORECASE)
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Za-z:.]+\])(?::[0-9]*)?")
_OBJECTIONS: Final = {
    431: Wording(
        "The headers are too large. Send at most %(maximum)s headers with 16 KiB in all.", maximum=HEADERS_MAX
    ),
    501: "Send the body with Content-Length or chunked; no other transfer coding is supported.",
}

log = structlog.get_logger(__name__)


class ClientConnection:
    """Serves one client until either side closes the connection."""

    def __init__(
        self,
        application: Application,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        *,
        on_idle: Callable[[ClientConnection], None],
        on_busy: Callable[[ClientConnection], None],
    ) -> None:
        self._application = application
        self._config = config
        self._context = context
        self._stream = stream
        self._on_idle = on_idle
        self._on_busy = on_busy
        self._protocol: Protocol | None = None
        self._send_lock = trio.Lock()
        # Its deadline is how long to wait for bytes from the client. Cancelling it ends the connection.
        self._receive_scope = trio.CancelScope()
        self._head_has_begun = False
        self._is_closing = False
        # Whether the client has ended its side of the connection.
        self._has_ended = False

    async def serve(self) -> None:
        """Serve the connection; an exception ends this connection and no other."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._close_idle_when_stopping)
                async with TaskGroup() as requests:
                    await self._receive_until_closed(self._make_protocol(requests))
                nursery.cancel_scope.cancel()
        except* OSError:
            # The client disconnected before its address was read.
            pass
        except* Exception:
            # A defect that one client triggers must not affect the others.
            log.exception("connection.failed")
        finally:
            await trio.aclose_forcefully(self._stream)

    def give_way(self) -> bool:
        """Close the connection at once, unless a request has begun on it; return whether it was closed."""
        has_begun = self._protocol is not None and not self._protocol.is_between_requests
        if has_begun or self._is_closed() or self._has_bytes_to_read():
            return False
        self._stream.socket.close()
        return True

    def _make_protocol(self, requests: TaskGroup) -> Protocol:
        socket = self._stream.socket
        self._protocol = protocol = Protocol(
            self._application,
            self._config,
            self._context,
            requests,
            client=socket.getpeername()[:2],
            server=socket.getsockname()[:2],
            send=self._handle_event,
        )
        return protocol

    async def _receive_until_closed(self, protocol: Protocol) -> None:
        with self._receive_scope:
            self._set_deadline(is_idle=True)
            while data := await self._receive_some():
                if not self._is_closing:
                    await protocol.handle(RawData(data))
                    self._limit_head(protocol)
            self._has_ended = True
            if data is not None and protocol.awaits_last_response():
                # Until `_close` cancels it.
                await trio.sleep_forever()
        await protocol.handle(Closed())

    async def _receive_some(self) -> bytes | None:
        """Return bytes from the client, `b""` when it has ended its side, None when the connection is broken."""
        try:
            return bytes(await self._stream.receive_some(RECEIVE_BYTES_MAX))
        except _DISCONNECTED:
            return None

    async def _handle_event(self, event: Event) -> None:
        """Carry out an event of the protocol."""
        match event:
            case RawData(data):
                await self._send(data)
            case Updated(is_idle):
                self._set_deadline(is_idle=is_idle)
            case _:
                await self._close()

    async def _send(self, data: bytes) -> None:
        left = memoryview(data)
        async with self._send_lock:
            if self._receive_scope.cancel_called:
                return
            try:
                with suppress(*_DISCONNECTED, trio.TooSlowError):
                    while left:
                        with trio.fail_after(SEND_SECONDS_MAX):
                            await self._stream.send_all(left[:SEND_BYTES_MAX])
                        left = left[SEND_BYTES_MAX:]
            finally:
                if left:
                    # Nothing may follow an incomplete response.
                    self._receive_scope.cancel()

    def _set_deadline(self, *, is_idle: bool) -> None:
        self._head_has_begun = False
        (self._on_idle if is_idle else self._on_busy)(self)
        if not self._is_closing:
            self._receive_scope.deadline = (
                trio.current_time() + self._config.keep_alive_timeout if is_idle else math.inf
            )

    def _limit_head(self, protocol: Protocol) -> None:
        """Limit how long the rest of a head may take, counted from its first part."""
        if protocol.has_partial_head and not self._head_has_begun:
            self._head_has_begun = True
            deadline = trio.current_time() + HEAD_SECONDS_MAX
            self._receive_scope.deadline = min(self._receive_scope.deadline, deadline)

    async def _close(self) -> None:
        self._is_closing = True
        linger_seconds = 0.0 if self._has_ended else LINGER_SECONDS_MAX
        self._receive_scope.deadline = trio.current_time() + linger_seconds
        # The calling task may be cancelled by now; the client must see the end of the stream all the same.
        with suppress(*_DISCONNECTED), trio.move_on_after(LINGER_SECONDS_MAX, shield=True):
            async with self._send_lock:
                await self._stream.send_eof()
        if self._protocol is not None:
            await self._protocol.handle(Closed())

    async def _close_idle_when_stopping(self) -> None:
        await self._context.terminated.wait()
        # At once, because a request that arrived in between would get no response.
        self.give_way()

    def _is_closed(self) -> bool:
        return self._stream.socket.fileno() < 0

    def _has_bytes_to_read(self) -> bool:
        poll = select.poll()
        poll.register(self._stream.socket, select.POLLIN)
        return bool(poll.poll(0))


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
        self._malformed = application.malformed
        self._unsent = b""

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
        if self._parser.their_state is h11.DONE:
            self._parser.receive_data(b"")
            self._parser.next_event()
        return self.stream is not None and self._parser.has_last_request

    async def stream_send(self, event: StreamEvent) -> None:
        """Pass an event of the application's response on."""
        if isinstance(event, Response) and self._parser.their_state in {h11.SEND_BODY, h11.CLOSED}:
            # The rest of the body will not be read, so the start of the next request would not be found; or the client
            # sends no other request.
            event = replace(event, headers=[*event.headers, (b"connection", b"close")])
        await super().stream_send(event)

    async def _check_protocol(self, event: h11.Request) -> None:
        """Ignore every upgrade that the client proposes."""

    async def _create_stream(self, request: h11.Request) -> None:
        path = _path(request)
        objection = _objection(request)
        if path is None or objection is not None:
            await self._refuse(objection or "The request line has no path.")
            await self.send(Closed())
            return
        self.stream = HTTPStream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=list(request.headers),
                http_version=request.http_version.decode(),
                method=request.method.decode().upper(),
                raw_path=path,
                state=self.connection_state,
            )
        )

    async def _send_error_response(self, status_code: int) -> None:
        await self._refuse(_OBJECTIONS.get(status_code, "The request is malformed."))

    async def _refuse(self, message: str) -> None:
        response = self._malformed(message, peer=self.client[0] if self.client else None)
        headers = [*encode_headers(response.headers), (b"connection", b"close"), *self.config.response_headers("h11")]
        await self._send_h11_event(h11.Response(status_code=response.status_code, headers=headers))
        await self._send_h11_event(h11.Data(data=await response.get_data(as_text=False)))
        await self._send_h11_event(h11.EndOfMessage())

    async def _send_h11_event(self, event: H11SendableEvent) -> None:
        try:
            self._unsent += self.connection.send(event) or b""
        except h11.LocalProtocolError:
            # No response can be sent to a client that violated the protocol; anything else is a defect.
            if self.connection.their_state is not h11.ERROR:
                raise
            return
        # Headers are sent together with what follows them, so that a short response leaves in one piece.
        if self._unsent and not isinstance(event, h11.Response):
            unsent, self._unsent = self._unsent, b""
            await self.send(RawData(unsent))


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
