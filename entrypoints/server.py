"""Accepting connections, and stopping without dropping a request that was accepted.

The protocol on a connection is in `web/serving/connection/connections.py`, and which connection gives way when there
are too many is in `open_connections.py` beside it. This module accepts connections and defines the order of stopping.
First, the server reports that it is not ready, every response asks its client to close the connection, and new
connections are served for the time that load balancers take to notice. Then the connections that the kernel has already
completed are accepted, the listening socket is closed, and their requests are awaited. Finally idle connections are
closed, and the others as soon as they have their response. Where another process has the socket too and continues with
it, such as the next worker of a reload, or systemd for a restarted server, queued connections are left to it, and
accepting ends first.
"""

from __future__ import annotations

import errno
import logging
import resource
import select
import socket
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

import structlog
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext

from core.lazy_dataclasses import dataclass
from core.networks import limited_network
from core.spaced_reports import SpacedReports
from entrypoints.connection_counts import ConnectionCount
from entrypoints.refusals import CannotStart
from entrypoints.settings import Bind, Settings
from entrypoints.web.input.client_addresses import client_address, is_trusted_peer
from entrypoints.web.serving.admission.unfinished_bodies import Flood
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.connection.connections import ClientConnection
from entrypoints.web.serving.connection.open_connections import CONNECTIONS_OF_A_CLIENT_MAX, OpenConnections
from ports.metrics_of_work import ConnectionRefusal

CONNECTIONS_MAX: Final = 10_000
# Open files that clients must not use up, besides the connections to the database: the log, mail servers, libraries.
FILES_RESERVED: Final = 256
BACKLOG_CONNECTIONS_MAX: Final = 1024
KEEP_ALIVE_SECONDS: Final = 75
# Long enough for clients under load to send one more request on each open connection, and to get "Connection: close".
CLIENTS_LEAVE_SECONDS: Final = 1.0
# A client sends its request right after the handshake, so it arrives within this time or not at all.
LAST_REQUESTS_SECONDS: Final = 0.2
# How many connections are accepted in a row after the first; the rest is left to other workers, or to the next round.
ACCEPTED_IN_A_ROW_MAX: Final = 8
# For how long a connection is left to a worker that has fewer, in how many looks. One that is busy takes it between two
# requests.
LEFT_SECONDS: Final = 0.005
LEFT_LOOKS: Final = 5
# After this many connections that were left to other workers in vain, none is left to them until one accepts again.
LEFT_IN_VAIN_MAX: Final = 20
# The pause before accepting again when there are no file descriptors left.
ACCEPT_PAUSE_SECONDS: Final = 0.1
# How long to wait for a connection to be answered or closed before asking again which one gives way.
ROOM_SECONDS_MAX: Final = 0.1
# How long a new connection waits for room before the log says so: longer than until an idle one may give way.
FULL_SECONDS_MAX: Final = 2.0
# How often the log says that new connections wait.
FULL_REPORT_SECONDS: Final = 60.0
# From this many closed connections on, their memory is given back; and how long to wait for their last objects.
FLOOD_CONNECTIONS_MIN: Final = 500
FLOOD_ENDS_SECONDS: Final = 2.0
# The collection stops every other request for as long as it takes to look at all objects of all connections, and 17
# bodies of 64 KiB that are given up are a flood.
RETURNED_AGAIN_SECONDS_MIN: Final = 60.0
_RETURNING: Final = trio.CapacityLimiter(1)
_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}

log = structlog.get_logger(__name__)


class CannotListen(CannotStart):
    """The process cannot listen on the address; the message is the line to print."""


def reserve(bind: Bind, *, setting: str = "GATEHOUSE_BIND") -> socket.socket:
    """Bind a socket to the address, or raise `CannotListen`; connections are refused until `listen_on`."""
    with _explained(bind, setting):
        family, kind, protocol, _, address = socket.getaddrinfo(
            bind.host, bind.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        with ExitStack() as until_bound:
            until_bound.callback(listener.close)
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            until_bound.pop_all()
        return listener


def listen_on(listener: socket.socket, bind: Bind, *, setting: str = "GATEHOUSE_BIND") -> None:
    """Start listening: the kernel queues connections until they are accepted."""
    with _explained(bind, setting):
        listener.listen(BACKLOG_CONNECTIONS_MAX)


def listen(bind: Bind, *, setting: str = "GATEHOUSE_BIND") -> socket.socket:
    """Open a listening socket."""
    listener = reserve(bind, setting=setting)
    listen_on(listener, bind, setting=setting)
    return listener


@contextmanager
def _explained(bind: Bind, setting: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise CannotListen(
            f"Cannot listen on {bind}: {error.strerror}. Stop the process that uses this address, or set {setting}"
            " to another one."
        ) from error


def hypercorn_config() -> Config:
    """Return the settings of Hypercorn."""
    config = Config()
    config.accesslog = None
    # Its errors reach our log through the standard library's logging.
    config.errorlog = logging.getLogger("hypercorn.error")
    config.include_server_header = False
    config.keep_alive_timeout = KEEP_ALIVE_SECONDS
    # The default closes a connection after a thousand requests, even with a request in flight.
    config.keep_alive_max_requests = 2**62
    return config


@dataclass(frozen=True, slots=True)
class Server:
    """Serves one application on one listening socket until it is stopped."""

    application: Application
    listener: socket.socket
    in_flight_seconds_max: float
    drain_seconds: float = 0.0
    # Gives the memory of a flood back to the system, after its end.
    return_memory: Callable[[], None] | None = None
    # The connections of this worker beside the other workers' on the same socket.
    count: ConnectionCount | None = None
    # Whether another process has the listening socket as well and keeps it, so that its queue is left to a successor.
    is_kept: bool = False
    # Whether, from the stop on, another process takes the requests: the server as a whole goes on.
    is_succeeded: Callable[[], bool] = lambda: False

    async def serve(self, stopping: trio.Event) -> None:
        """Serve until the event is set, then finish the accepted requests within `in_flight_seconds_max`.

        From the event on, the server is not ready, and for `drain_seconds` it takes new connections all the same.
        """
        config, context = hypercorn_config(), WorkerContext(None)
        async with trio.open_nursery() as connections:
            clients = _Clients(self.application, config, context, connections, self.count)
            async with trio.open_nursery() as accepting:
                accepting.start_soon(clients.accept, self.listener)
                for flood in (clients.flood, self.application.unfinished_bodies.flood):
                    accepting.start_soon(self._return_memory_after, flood)
                await stopping.wait()
                is_succeeded = self.is_succeeded()
                if is_succeeded:
                    self.application.installation.succeeded.set()
                self.application.installation.stopping.set()
                leaves_queue = is_succeeded or self.is_kept
                if not is_succeeded:
                    await trio.sleep(self.drain_seconds)
                if not leaves_queue:
                    with trio.move_on_after(CLIENTS_LEAVE_SECONDS):
                        await clients.all_closed()
                accepting.cancel_scope.cancel()
            with self.listener:
                if not leaves_queue:
                    clients.accept_queued(self.listener)
            if leaves_queue:
                with trio.move_on_after(CLIENTS_LEAVE_SECONDS):
                    await clients.all_closed()
            with trio.move_on_after(LAST_REQUESTS_SECONDS):
                await clients.all_closed()
            await context.terminated.set()
            connections.cancel_scope.deadline = trio.current_time() + self.in_flight_seconds_max

    async def _return_memory_after(self, flood: Flood) -> None:
        while self.return_memory is not None:
            await flood.is_over()
            # Until what the connections have kept is freed.
            await trio.sleep(FLOOD_ENDS_SECONDS)
            await trio.to_thread.run_sync(self.return_memory, limiter=_RETURNING)
            # A flood that ends meanwhile is noticed behind it.
            await trio.sleep(RETURNED_AGAIN_SECONDS_MIN)


def connections_max(settings: Settings) -> int:
    """Return how many connections this process can serve with the files that it may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS_MAX
    return min(CONNECTIONS_MAX, max(1, files - FILES_RESERVED - settings.database_connections))


class _Clients:
    """The open connections of this process."""

    def __init__(
        self,
        application: Application,
        config: Config,
        context: WorkerContext,
        connections: trio.Nursery,
        count: ConnectionCount | None,
    ) -> None:
        self._application = application
        self._metrics = application.installation.metrics
        self._config = config
        self._context = context
        self._connections = connections
        settings = application.installation.settings
        self._trusted_proxies = settings.trusted_proxies
        total_max = connections_max(settings)
        # A load test comes from one address.
        of_a_client_max = CONNECTIONS_OF_A_CLIENT_MAX if settings.rate_limits else total_max
        self._open_connections = OpenConnections(total_max=total_max, of_a_client_max=of_a_client_max)
        self._has_room = trio.Event()
        self._full = SpacedReports(FULL_REPORT_SECONDS)
        self._open = 0
        self._turn = _Turn(count)
        self.flood = Flood(least=FLOOD_CONNECTIONS_MIN)
        self._last_closed = trio.Event()

    async def all_closed(self) -> None:
        """Wait until no connection is open."""
        if self._open:
            await self._last_closed.wait()

    async def accept(self, listener: socket.socket) -> None:
        """Accept connections for ever."""
        with self._turn.held():
            while True:
                await self._wait_for_room(listener)
                await trio.lowlevel.wait_readable(listener)
                if not await self._turn.comes(lambda: _has_queued(listener)):
                    continue
                try:
                    self._accept_some(listener)
                except OSError as error:
                    if error.errno not in _EXHAUSTED:
                        raise
                    self._metrics.connection_refused(ConnectionRefusal.EXHAUSTED)
                    log.warning("server.exhausted", reason=error.strerror)
                    self._open_connections.make_room()
                    await trio.sleep(ACCEPT_PAUSE_SECONDS)

    def _accept_some(self, listener: socket.socket) -> None:
        """Accept a connection, unless another worker has taken it, and some that are queued behind it.

        One per round of the event loop takes longer, the more are open.
        """
        try:
            self._start(_accepted(listener))
        except (BlockingIOError, ConnectionAbortedError):
            return
        # The next call reports an error of the socket.
        with suppress(OSError):
            for _ in range(ACCEPTED_IN_A_ROW_MAX):
                if self._open_connections.is_full or self._turn.is_anothers:
                    return
                self._start(_accepted(listener))

    def accept_queued(self, listener: socket.socket) -> None:
        """Accept every connection that the kernel has queued."""
        with suppress(OSError):
            while True:
                self._start(_accepted(listener))

    async def _wait_for_room(self, listener: socket.socket) -> None:
        """Wait until another connection can be served; when there are too many, an idle one gives way to it."""
        if not self._open_connections.is_full:
            return
        await trio.lowlevel.wait_readable(listener)
        began, is_counted = trio.current_time(), False
        while self._open_connections.is_full and not self._open_connections.make_room():
            if trio.current_time() - began > FULL_SECONDS_MAX:
                if not is_counted:
                    self._metrics.connection_refused(ConnectionRefusal.FULL)
                    is_counted = True
                self._report_full()
            self._has_room = trio.Event()
            with trio.move_on_after(ROOM_SECONDS_MAX):
                await self._has_room.wait()

    def _report_full(self) -> None:
        if self._full.count(trio.current_time()) is not None:
            log.warning("server.full", connections=self._open, advice="Run more processes: no connection is idle.")

    def _start(self, accepted: socket.socket) -> None:
        connection = ClientConnection(
            self._application,
            self._config,
            self._context,
            accepted,
            on_idle=self._note_idle,
            on_busy=self._open_connections.note_busy,
        )
        client = self._client_of(accepted)
        if not self._open_connections.add(connection, client):
            self._metrics.connection_refused(ConnectionRefusal.SHARE)
            log.info("connection.refused", client=client, reason="too many connections with unanswered requests")
            accepted.close()
            return
        if not self._open:
            self._last_closed = trio.Event()
        self._open += 1
        self._turn.note_opened()
        self.flood.note(self._open)
        self._metrics.connection_opened()
        self._connections.start_soon(self._serve, connection)

    def _client_of(self, accepted: socket.socket) -> str | None:
        """Return the network whose share of the connections this one counts for; None for a trusted proxy."""
        try:
            peer = str(accepted.getpeername()[0])
        except OSError:
            # The client has disconnected already.
            return None
        if is_trusted_peer(peer, self._trusted_proxies):
            return None
        return limited_network(client_address(peer, "", ()))

    def _note_idle(self, connection: ClientConnection) -> None:
        self._open_connections.note_idle(connection)
        self._has_room.set()

    async def _serve(self, connection: ClientConnection) -> None:
        try:
            await connection.serve()
        finally:
            self._open_connections.remove(connection)
            self._has_room.set()
            self._open -= 1
            self._turn.note_closed()
            self.flood.note(self._open)
            self._metrics.connection_closed()
            if not self._open:
                self._last_closed.set()


def _has_queued(listener: socket.socket) -> bool:
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return bool(poll.poll(0))


class _Turn:
    """Decides which worker accepts: one that has no more connections than the others."""

    def __init__(self, count: ConnectionCount | None) -> None:
        self._count = count
        self._accepted_by_others: int = 0
        # How many connections were left to the others, and not taken, since one of them has accepted.
        self._in_vain = 0
        self._is_taking_anyway = False

    @contextmanager
    def held(self) -> Generator[None]:
        """Take part while this process accepts."""
        if self._count is None:
            yield
            return
        self._count.begin()
        try:
            yield
        finally:
            self._count.end()

    @property
    def is_anothers(self) -> bool:
        """Whether a worker that has fewer connections is to accept first."""
        return self._count is not None and self._count.is_ahead

    async def comes(self, has_queued: Callable[[], bool]) -> bool:
        """Return whether this process accepts what is queued, once no other one has done so for a moment."""
        looks = 0
        while self.is_anothers and looks < LEFT_LOOKS:
            if self._has_others_accepting():
                looks = 0
            elif self._in_vain >= LEFT_IN_VAIN_MAX:
                # It hangs, or has no time.
                return True
            await trio.sleep(LEFT_SECONDS / LEFT_LOOKS)
            if not has_queued():
                return False
            looks += 1
        self._is_taking_anyway = looks == LEFT_LOOKS
        return True

    def _has_others_accepting(self) -> bool:
        """Return whether another worker has accepted since the last call."""
        assert self._count is not None, "this process has no others beside it"
        accepted = self._count.accepted_by_others
        if accepted == self._accepted_by_others:
            return False
        self._accepted_by_others, self._in_vain = accepted, 0
        return True

    def note_opened(self) -> None:
        """Count a connection that was accepted."""
        if self._count is not None:
            self._in_vain += self._is_taking_anyway
            self._is_taking_anyway = False
            self._count.opened()

    def note_closed(self) -> None:
        """Count a connection that has ended."""
        if self._count is not None:
            self._count.closed()


def _accepted(listener: socket.socket) -> socket.socket:
    accepted, _ = listener.accept()
    return _prepared(accepted)


def _prepared(accepted: socket.socket) -> socket.socket:
    accepted.setblocking(False)
    # A response leaves at once, also when the client has not acknowledged the one before.
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return accepted
