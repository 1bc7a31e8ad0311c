"""One client's connection: HTTP/1.1 as Hypercorn and h11 speak it, and nothing besides.

Hypercorn would switch to WebSocket, and to HTTP/2 without TLS, for whoever asks. Nothing in the house needs either, so
such offers are passed over, as a server may (RFC 9110, 7.8). What can be understood in two ways is refused before it
becomes a request, in the same words as everything else; and who is still sending when we are done hears our answer.
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

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hypercorn.config import Config
    from hypercorn.events import Event
    from hypercorn.protocol.events import Event as StreamEvent
    from hypercorn.trio.worker_context import WorkerContext
    from hypercorn.typing import H11SendableEvent

    from entrypoints.web.application import Application

# No more at a time than headers may be long, so that those that are longer are refused however they arrive.
RECEIVE_BYTES_MAX: Final = 2**14
SEND_BYTES_MAX: Final = 2**16
# Who has not even taken so much in so long is not going to take the rest.
SEND_SECONDS_MAX: Final = 20.0
# So long we go on listening to somebody whom we no longer answer: a connection that is closed while bytes arrive is
# reset, and the reset may overtake the answer (RFC 9112, 9.6).
LINGER_SECONDS_MAX: Final = 2.0

_GONE: Final = (trio.BrokenResourceError, trio.ClosedResourceError)
_VERSIONS: Final = (b"1.0", b"1.1")
_AUTHORITY: Final = re.compile(rb"https?://[^/?#]+", re.IGNORECASE)
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Za-z:.]+\])(?::[0-9]*)?")
_OBJECTIONS: Final = {
    431: "The headers are too large.",
    501: "Send the body as it is or chunked; no other transfer coding is understood.",
}

log = structlog.get_logger(__name__)


class ClientConnection:
    """Serves one client until either side has had enough."""

    def __init__(
        self, application: Application, config: Config, context: WorkerContext, stream: trio.SocketStream
    ) -> None:
        self._application = application
        self._config = config
        self._context = context
        self._stream = stream
        self._sending = trio.Lock()
        # Its deadline is how long we wait for the client to say something; it ends all dealings with the client.
        self._listening = trio.CancelScope()
        self._is_idle = True
        self._is_leaving = False

    async def serve(self) -> None:
        """Serve; what goes wrong in here ends this connection and no other."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hang_up_when_stopping)
                async with TaskGroup() as requests:
                    await self._listen(self._protocol(requests))
                nursery.cancel_scope.cancel()
        except* OSError:
            # The client was gone before we could ask for its address.
            pass
        except* Exception:
            # A defect that one client runs into is none of the others' concern.
            log.exception("connection.failed")
        finally:
            await trio.aclose_forcefully(self._stream)

    def _protocol(self, requests: TaskGroup) -> Protocol:
        socket = self._stream.socket
        self._spoken = Protocol(
            self._application,
            self._config,
            self._context,
            requests,
            client=socket.getpeername()[:2],
            server=socket.getsockname()[:2],
            send=self._heed,
        )
        return self._spoken

    async def _listen(self, protocol: Protocol) -> None:
        with self._listening:
            self._expect_something(is_idle=True)
            while data := await self._received():
                if not self._is_leaving:
                    # Perhaps only the beginning of a request, but a begun one.
                    self._is_idle = False
                    await protocol.handle(RawData(data))
        await protocol.handle(Closed())

    async def _received(self) -> bytes:
        try:
            return bytes(await self._stream.receive_some(RECEIVE_BYTES_MAX))
        except _GONE:
            return b""

    async def _heed(self, event: Event) -> None:
        """Do what the protocol says."""
        match event:
            case RawData(data):
                await self._send(data)
            case Updated(is_idle):
                self._expect_something(is_idle=is_idle)
            case _:
                await self._leave()

    async def _send(self, data: bytes) -> None:
        left = memoryview(data)
        async with self._sending:
            if self._listening.cancel_called:
                return
            try:
                with suppress(*_GONE, trio.TooSlowError):
                    while left:
                        with trio.fail_after(SEND_SECONDS_MAX):
                            await self._stream.send_all(left[:SEND_BYTES_MAX])
                        left = left[SEND_BYTES_MAX:]
            finally:
                if left:
                    # After half an answer nothing may follow.
                    self._listening.cancel()

    def _expect_something(self, *, is_idle: bool) -> None:
        self._is_idle = is_idle
        if not self._is_leaving:
            self._listening.deadline = trio.current_time() + self._config.keep_alive_timeout if is_idle else math.inf

    async def _leave(self) -> None:
        self._is_leaving = True
        self._listening.deadline = trio.current_time() + LINGER_SECONDS_MAX
        # Whoever brings us here may be cancelled by now, and the client is to know all the same.
        with suppress(*_GONE), trio.move_on_after(LINGER_SECONDS_MAX, shield=True):
            async with self._sending:
                await self._stream.send_eof()
        await self._spoken.handle(Closed())

    async def _hang_up_when_stopping(self) -> None:
        await self._context.terminated.wait()
        if self._is_idle and not self._has_something_to_read():
            # At once, because a client that says something in between would get no answer.
            self._stream.socket.close()

    def _has_something_to_read(self) -> bool:
        poll = select.poll()
        poll.register(self._stream.socket, select.POLLIN)
        return bool(poll.poll(0))


class Protocol(H11Protocol):
    """What the bytes of one connection mean."""

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
        self._malformed = application.malformed
        self._unsent = b""

    async def stream_send(self, event: StreamEvent) -> None:
        """Pass on what the application answers."""
        if isinstance(event, Response) and self.connection.their_state is h11.SEND_BODY:
            # The rest of the body will not be read, so the next request would not be found.
            event = replace(event, headers=[*event.headers, (b"connection", b"close")])
        await super().stream_send(event)

    async def _check_protocol(self, event: h11.Request) -> None:
        """Stay with this protocol, whatever the client proposes."""

    async def _create_stream(self, request: h11.Request) -> None:
        path = _path(request)
        objection = _objection(request)
        if path is None or objection is not None:
            await self._refuse(objection or "The request line names no path.")
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
            # Nothing can be said any more to a client that did not keep to the protocol; anything else is a defect.
            if self.connection.their_state is not h11.ERROR:
                raise
            return
        # Headers wait for what follows them, so that a short answer leaves in one piece.
        if self._unsent and not isinstance(event, h11.Response):
            unsent, self._unsent = self._unsent, b""
            await self.send(RawData(unsent))


def _path(request: h11.Request) -> bytes | None:
    """Give the target as a path with its query; nothing here depends on the host that it may name (RFC 9112, 3.2)."""
    target = request.target
    if target.startswith(b"/") or (target == b"*" and request.method == b"OPTIONS"):
        return target
    authority = _AUTHORITY.match(target)
    if authority is None:
        return None
    path = target[authority.end() :]
    return path if path.startswith(b"/") else b"/" + path


def _objection(request: h11.Request) -> str | None:
    """Say what is wrong with a request that h11 lets pass."""
    version, headers = request.http_version, request.headers
    names = [name for name, _ in headers]
    if version not in _VERSIONS:
        return "Speak HTTP/1.1."
    if b"transfer-encoding" in names and (b"content-length" in names or version == b"1.0"):
        # Servers that disagree about where a body ends can be made to see different requests (RFC 9112, 6.3 and 11.2).
        return "It is not clear where the body ends: send Content-Length or Transfer-Encoding."
    if not all(_HOST.fullmatch(value) for name, value in headers if name == b"host"):
        return "The Host header names no host."
    return None
