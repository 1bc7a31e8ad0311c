"""Accepting connections, and stopping without dropping a request that was accepted.

What is spoken on a connection is in `http/connections.py`. Here is whom to let in, and the order of stopping: first
every answer asks its client to come back on a new connection, then what the kernel had accepted for us is let in, the
door closes, and who came last is heard; then quiet connections are closed, and the others as soon as they are answered.
"""

from __future__ import annotations

import errno
import logging
import resource
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext

from entrypoints.refusals import CannotStart
from entrypoints.web.connections import ClientConnection

if TYPE_CHECKING:
    from collections.abc import Generator

    from entrypoints.settings import Bind
    from entrypoints.web.application import Application

CONNECTIONS_MAX: Final = 10_000
# Open files that clients must not use up: the database's connections, the log, letters on their way.
FILES_RESERVED: Final = 256
BACKLOG_CONNECTIONS_MAX: Final = 1024
KEEP_ALIVE_SECONDS: Final = 75
# Long enough for clients under load to send one more request on each open connection and be told to let go of it.
LETTING_GO_SECONDS: Final = 1.0
# A client sends its request right behind the handshake, so it comes this soon or nothing was on its way.
LAST_WORD_SECONDS: Final = 0.2
# So many are let in at once besides the first; the rest is for the other workers, or the next turn.
SOME: Final = 8
# Out of file descriptors: wait for some to come back rather than spin.
ACCEPT_PAUSE_SECONDS: Final = 0.1
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}

log = structlog.get_logger(__name__)


class CannotListen(CannotStart):
    """The address cannot be listened on; the message is the line to print."""


def reserve(bind: Bind) -> socket.socket:
    """Take an address so that nobody else can have it; whoever connects is turned away until `listen_on`."""
    with _explained(bind):
        family, kind, protocol, _, address = socket.getaddrinfo(
            bind.host, bind.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setblocking(False)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        return listener


def listen_on(listener: socket.socket, bind: Bind) -> None:
    """Let the kernel accept connections, which wait until we let them in."""
    with _explained(bind):
        listener.listen(BACKLOG_CONNECTIONS_MAX)


def listen(bind: Bind) -> socket.socket:
    """Open a listening socket."""
    listener = reserve(bind)
    listen_on(listener, bind)
    return listener


@contextmanager
def _explained(bind: Bind) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise CannotListen(
            f"Cannot listen on {bind}: {error.strerror}. Does something else run there? Set GATEHOUSE_BIND to another."
        ) from error


def hypercorn_config() -> Config:
    """Give the settings that we and the bench's bare server share."""
    config = Config()
    config.accesslog = None
    # What it cannot deal with joins our log through the standard library's.
    config.errorlog = logging.getLogger("hypercorn.error")
    config.include_server_header = False
    config.keep_alive_timeout = KEEP_ALIVE_SECONDS
    # By default a connection is closed after a thousand requests, whoever is in the middle of what.
    config.keep_alive_max_requests = 2**62
    return config


@dataclass(frozen=True, slots=True)
class Server:
    """Serves one application on one listening socket until it is told to stop."""

    application: Application
    listener: socket.socket
    in_flight_seconds_max: float

    async def serve(self, stopping: trio.Event) -> None:
        """Serve until the event is set, then finish what was accepted, at most that long."""
        config, context = hypercorn_config(), WorkerContext(None)
        async with trio.open_nursery() as connections:
            visitors = _Visitors(self.application, config, context, connections)
            async with trio.open_nursery() as accepting:
                accepting.start_soon(visitors.let_in, self.listener)
                await stopping.wait()
                self.application.installation.stopping.set()
                with trio.move_on_after(LETTING_GO_SECONDS):
                    await visitors.all_left()
                accepting.cancel_scope.cancel()
            with self.listener:
                visitors.let_in_who_waits(self.listener)
            with trio.move_on_after(LAST_WORD_SECONDS):
                await visitors.all_left()
            await context.terminated.set()
            connections.cancel_scope.deadline = trio.current_time() + self.in_flight_seconds_max


class _Visitors:
    """The connections that are open, which are not more than the process has files for."""

    def __init__(
        self, application: Application, config: Config, context: WorkerContext, connections: trio.Nursery
    ) -> None:
        self._application = application
        self._config = config
        self._context = context
        self._connections = connections
        self._places = trio.Semaphore(_connections_max())
        self._inside = 0
        self._last_left = trio.Event()

    async def all_left(self) -> None:
        """Wait until no connection is open."""
        if self._inside:
            await self._last_left.wait()

    async def let_in(self, door: socket.socket) -> None:
        """Let in whoever comes, for ever."""
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(door))
        while True:
            await self._places.acquire()
            try:
                self._welcome(await listener.accept())
                self._let_in_some(door)
            except OSError as error:
                self._places.release()
                if error.errno not in _EXHAUSTED:
                    raise
                log.warning("server.exhausted", reason=error.strerror)
                await trio.sleep(ACCEPT_PAUSE_SECONDS)

    def _let_in_some(self, door: socket.socket) -> None:
        """Let in some more of those who wait: with one in each turn it takes longer, the more are inside."""
        # What is wrong with the door, the next one shows.
        with suppress(OSError, trio.WouldBlock):
            for _ in range(SOME):
                self._places.acquire_nowait()
                try:
                    self._welcome(_accepted(door))
                except OSError:
                    self._places.release()
                    raise

    def let_in_who_waits(self, door: socket.socket) -> None:
        """Let in whom the kernel accepted while we were busy."""
        with suppress(OSError):
            while True:
                self._welcome(_accepted(door))

    def _welcome(self, stream: trio.SocketStream) -> None:
        if not self._inside:
            self._last_left = trio.Event()
        self._inside += 1
        self._connections.start_soon(self._serve, stream)

    async def _serve(self, stream: trio.SocketStream) -> None:
        try:
            await ClientConnection(self._application, self._config, self._context, stream).serve()
        finally:
            self._places.release()
            self._inside -= 1
            if not self._inside:
                self._last_left.set()


def _accepted(door: socket.socket) -> trio.SocketStream:
    accepted, _ = door.accept()
    accepted.setblocking(False)
    return trio.SocketStream(trio.socket.from_stdlib_socket(accepted))


def _connections_max() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS_MAX if files == resource.RLIM_INFINITY else min(CONNECTIONS_MAX, max(1, files - FILES_RESERVED))
