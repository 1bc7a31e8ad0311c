"""The pool: how many connections there are, how long a use case waits for one, and how failed ones are replaced.

No connection is lent that is broken or that may hang (`timed_connection.py`). The pool lends the connection that was
used last: behind each stands a process of PostgreSQL, and the one that worked last is the fastest
(`ops/decisions/0015-several-statements-per-round-trip.md`).

A pool works for one event loop at a time. A connection that is established after its event loop has ended is closed.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import psycopg
import structlog
import trio
from outcome import Outcome

from adapters.postgres.driver import connect_failures
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.greenlets import wait_in_greenlet
from adapters.postgres.driver.places import Places
from adapters.postgres.driver.timed_connection import TimedConnection, log_failure
from adapters.postgres.driver.write_failures import WriteFailures
from core.lazy_dataclasses import dataclass
from ports.metrics_of_work import ConnectFailure

log = structlog.get_logger(__name__)

# A use case that waits for a connection tries this often to open another one.
WAIT_AGAIN_SECONDS = 0.1
# None is opened so soon after a failure; shorter, so that a use case whose attempt failed may try again after its wait.
CONNECT_AGAIN_SECONDS = WAIT_AGAIN_SECONDS / 2
# A connection is closed after this time idle, so that an idle process keeps only the one that it still uses, and at
# this age, because the memory of the server process behind it only grows.
IDLE_SECONDS_MAX = 60.0
AGE_SECONDS_MAX = 3600.0
MARK_BYTES = 4


class NoConnection(Exception):
    """The pool had no connection in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPoolStatistics:
    """How many connections there are, how many of them are idle, and how many there may be."""

    total: int
    idle: int
    maximum: int


@dataclass(slots=True)
class Pooled:
    """A connection, the driver's connection below it, and when it was used last."""

    driver: TimedConnection
    connection: Connection
    idle_since: float = 0.0


class Pool:
    """A bounded set of connections that repairs itself."""

    def __init__(
        self,
        url: str,
        *,
        connections_max: int,
        connection: Callable[..., Connection] = Connection,
        connect: Callable[[], TimedConnection] | None = None,
        failed: Callable[[ConnectFailure], None] = lambda _reason: None,
    ) -> None:
        # One for each connection, so that tasks queue in Trio, where waiting can be cancelled.
        self.places = Places(connections_max)
        self._write_failures = WriteFailures()
        self._connection = connection
        self._connect = connect or partial(TimedConnection.open, url)
        # Takes why an attempt has failed, for the metric.
        self._failed = failed
        self._maximum = connections_max
        # The connection that was used last is at the end.
        self._idle: list[Pooled] = []
        self._lent = 0
        self._connecting = 0
        self._event_loop: trio.lowlevel.TrioToken | None = None
        self._waiting = trio.lowlevel.ParkingLot()
        self._renewed_at = self._failed_at = -math.inf
        # Since when every attempt to connect has failed, and no connection has answered.
        self._away_since: float | None = None
        self._mark = b""
        self._is_closed = False

    def close(self) -> None:
        """Close every idle connection now, and those in use when they come back."""
        self._is_closed = True
        self.renew()

    def renew(self) -> None:
        """Replace every idle connection now, and those in use when they come back.

        A pooler keeps the sessions behind them, with their prepared statements; the new connections do not use those.
        """
        self._renewed_at = time.monotonic()
        self._mark = b"\n-- " + secrets.token_hex(MARK_BYTES).encode()
        while self._idle:
            self._idle.pop().driver.close()

    def shrink(self) -> None:
        """Close the connections that were idle for long; called now and then."""
        # The seldom used ones are at the beginning.
        while self._idle and time.monotonic() - self._idle[0].idle_since > IDLE_SECONDS_MAX:
            self._idle.pop(0).driver.close()

    def statistics(self) -> PostgresPoolStatistics:
        """Count the connections."""
        return PostgresPoolStatistics(total=self._total, idle=len(self._idle), maximum=self._maximum)

    @property
    def _total(self) -> int:
        return len(self._idle) + self._lent + self._connecting

    def take(self, deadline: float) -> Pooled:
        """Take a connection that works; raise `NoConnection` at that moment of `time.monotonic`.

        To be called inside `run_in_greenlet`; it is given back by `give_back`.
        """
        while (remaining_seconds := deadline - time.monotonic()) > 0 and not self._is_closed:
            if not self._idle:
                self._start_connecting()
                wait = partial(self._wait, min(remaining_seconds, WAIT_AGAIN_SECONDS))
                wait_in_greenlet(wait, seconds_max=math.inf)
                continue
            pooled = self._idle.pop()
            # A firewall may have dropped a connection that was idle for long, and checking it would take all the time.
            was_idle_for_long = time.monotonic() - pooled.idle_since > IDLE_SECONDS_MAX
            self._lent += 1
            if not was_idle_for_long and pooled.driver.is_alive(deadline - time.monotonic()):
                return pooled
            self._lent -= 1
            pooled.driver.close()
        raise NoConnection

    def give_back(self, pooled: Pooled) -> None:
        """Take back a connection; what was begun or deferred on it is dropped."""
        self._lent -= 1
        self._put(pooled)

    async def _wait(self, seconds_max: float) -> None:
        with trio.move_on_after(seconds_max):
            await self._waiting.park()

    def _start_connecting(self) -> None:
        """Connect on a thread; a failure does not wake the use cases that wait, which try again later."""
        event_loop = trio.lowlevel.current_trio_token()
        if event_loop is not self._event_loop:
            # Connections for an earlier event loop are never delivered to this one.
            self._event_loop, self._connecting = event_loop, 0
        # Use cases that wait come here whenever a connection comes back, which may be a thousand times a second.
        has_just_failed = time.monotonic() - self._failed_at < CONNECT_AGAIN_SECONDS
        if self._total >= self._maximum or has_just_failed:
            return
        self._connecting += 1

        def deliver(connected: Outcome[TimedConnection]) -> None:
            try:
                event_loop.run_sync_soon(self._finish_connecting, connected)
            except trio.RunFinishedError:
                with suppress(psycopg.Error, OSError):
                    connected.unwrap().close()

        try:
            trio.lowlevel.start_thread_soon(self._connect, deliver)
        except RuntimeError as error:
            # The system has no thread to spare.
            self._record_failure(error)
            log_failure(error)

    def _finish_connecting(self, connected: Outcome[TimedConnection]) -> None:
        try:
            driver = connected.unwrap()
        except (psycopg.Error, OSError) as error:
            self._record_failure(error)
        else:
            self._connecting -= 1
            if self._away_since is not None:
                log.info("database.reconnected", away_s=round(time.monotonic() - self._away_since, 1))
                self._away_since = None
            mark = self._mark if driver.is_pooled else b""
            self._put(Pooled(driver, self._connection(driver, self._write_failures, mark=mark)))

    def _record_failure(self, error: Exception) -> None:
        self._connecting -= 1
        self._failed_at = time.monotonic()
        if self._away_since is None:
            self._away_since = self._failed_at
        self._failed(connect_failures.kind_of(error))

    def _put(self, pooled: Pooled) -> None:
        now = time.monotonic()
        # Deferred statements would go out with the first statement of the next use case.
        pooled.connection.rollback()
        is_outdated = (
            pooled.driver.connected_at <= self._renewed_at or now - pooled.driver.connected_at > AGE_SECONDS_MAX
        )
        if self._is_closed or is_outdated or not pooled.driver.is_idle:
            pooled.driver.close()
        else:
            pooled.idle_since = now
            self._idle.append(pooled)
            # The database is there, and has no place for another connection.
            self._away_since = None
        self.shrink()
        self._waiting.unpark()
