"""One client's connection: its socket, its time limits and its end; `protocols.py` has the protocol on it.

A client that is still sending when the response is complete, or that has ended its side of the connection before, can
still receive the response. Which of many connections gives way to a new one is in `open_connections.py`.
"""

from __future__ import annotations

import math
import select
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext

from entrypoints.web.serving.application import Application
from entrypoints.web.serving.connection.protocols import Protocol

# At most the maximal length of headers at a time, so that longer headers are refused however they arrive.
RECEIVE_BYTES_MAX: Final = 2**14
SEND_BYTES_MAX: Final = 2**16
# The deadline for each chunk of SEND_BYTES_MAX; a slower client is disconnected.
SEND_SECONDS_MAX: Final = 20.0
# The deadline for all chunks of what is sent in one piece, such as a whole response.
PIECE_SECONDS_MAX: Final = 60.0
# The deadline for the rest of a request line and headers, once their first byte has arrived.
HEAD_SECONDS_MAX: Final = 20.0
# How long to keep reading after the last response: a connection that is closed while bytes arrive is reset, and the
# reset may overtake the response (RFC 9112, 9.6).
LINGER_SECONDS_MAX: Final = 2.0

_DISCONNECTED: Final = (OSError, trio.ClosedResourceError)

log = structlog.get_logger(__name__)


class ClientConnection:
    """Serves one client until either side closes the connection."""

    def __init__(
        self,
        application: Application,
        config: Config,
        context: WorkerContext,
        client: socket.socket,
        *,
        on_idle: Callable[[ClientConnection], None],
        on_busy: Callable[[ClientConnection], None],
    ) -> None:
        self._application = application
        self._config = config
        self._context = context
        self._socket = client
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
            self._disconnect()

    def give_way(self) -> bool:
        """Close the connection at once, unless a request has begun on it; return whether it was closed."""
        has_begun = self._protocol is not None and not self._protocol.is_between_requests
        if has_begun or self._is_closed() or self._has_bytes_to_read():
            return False
        self._disconnect()
        return True

    def _make_protocol(self, requests: TaskGroup) -> Protocol:
        self._protocol = protocol = Protocol(
            self._application,
            self._config,
            self._context,
            requests,
            client=self._socket.getpeername()[:2],
            server=self._socket.getsockname()[:2],
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
            while True:
                await trio.lowlevel.wait_readable(self._socket)
                with suppress(BlockingIOError):
                    return self._socket.recv(RECEIVE_BYTES_MAX)
        except _DISCONNECTED:
            return None

    async def _handle_event(self, event: Event) -> None:
        """Carry out an event of the protocol."""
        match event:
            case RawData(data):
                # The end of a message is often no bytes.
                if data:
                    await self._send(data)
            case Updated(is_idle):
                self._set_deadline(is_idle=is_idle)
            case _:
                await self._close()

    async def _send(self, data: bytes) -> None:
        try:
            self._send_lock.acquire_nowait()
        except trio.WouldBlock:
            await self._send_lock.acquire()
        left, is_whole = memoryview(data), False
        try:
            if self._receive_scope.cancel_called:
                return
            with suppress(*_DISCONNECTED, trio.TooSlowError):
                # Nearly every response fits into the socket's buffer; it then takes no step of the event loop.
                left = left[self._send_now(left[:SEND_BYTES_MAX]) :]
                if left:
                    await self._send_chunks(left)
                is_whole = True
        finally:
            self._send_lock.release()
            if not is_whole:
                # Nothing may follow an incomplete response.
                self._receive_scope.cancel()

    def _send_now(self, data: memoryview) -> int:
        """Send what fits into the socket's buffer; return how much that is."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0

    async def _send_chunks(self, left: memoryview) -> None:
        with trio.fail_after(PIECE_SECONDS_MAX):
            while left:
                await self._send_chunk(left[:SEND_BYTES_MAX])
                left = left[SEND_BYTES_MAX:]

    async def _send_chunk(self, chunk: memoryview) -> None:
        with trio.fail_after(SEND_SECONDS_MAX):
            while chunk:
                await trio.lowlevel.wait_writable(self._socket)
                chunk = chunk[self._send_now(chunk) :]

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
                self._socket.shutdown(socket.SHUT_WR)
        if self._protocol is not None:
            await self._protocol.handle(Closed())

    async def _close_idle_when_stopping(self) -> None:
        await self._context.terminated.wait()
        # At once, because a request that arrived in between would get no response.
        self.give_way()

    def _disconnect(self) -> None:
        if not self._is_closed():
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()

    def _is_closed(self) -> bool:
        return self._socket.fileno() < 0

    def _has_bytes_to_read(self) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))
