"""Connections: how many, how long one waits for one, and how one that no longer works is noticed and replaced.

A connection can fail in two ways. It breaks, which its socket shows, or it hangs: the other side neither answers nor
closes. So no connection is lent that is broken or has not shown for a while that it answers, and nothing waits longer
for an answer than PostgreSQL may work on a statement. What runs on a connection is the business of `database.py`.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import psycopg
import structlog
import trio
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.waiting import Wait
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from adapters.postgres import waiting
from adapters.postgres.hop import is_aside, step_aside

if TYPE_CHECKING:
    from collections.abc import Generator

    from psycopg.abc import PQGen

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Answer = TypeVar("Answer")

STATEMENT_SECONDS_MAX = 5
LOCK_WAIT_SECONDS_MAX = 3
IDLE_IN_TRANSACTION_SECONDS_MAX = 10
# PostgreSQL ends a statement before this, so whoever is still silent then hangs, and may never answer.
ANSWER_SECONDS_MAX = STATEMENT_SECONDS_MAX + 1.0
# A few statements in a row share one deadline, which is that much later than that of the first.
SPARE_SECONDS = 0.5
# The shortest that libpq accepts.
CONNECT_SECONDS_MAX = 2
# The pool tries to connect when somebody begins to wait, and not again while they wait; so they begin anew this often.
WAIT_ANEW_SECONDS = 0.1
# A connection that answered this lately is trusted; asking each time would make every read twice as dear.
TRUSTED_SECONDS = 1.0
CONNECTIONS_MIN = 2
IDLE_SECONDS_MAX = 300.0
CLOSE_SECONDS_MAX = 3.0
# An outage is worth a line now and then, not one for each attempt.
COMPLAINT_PERIOD_SECONDS = 10.0

log = structlog.get_logger(__name__)


class NoConnection(Exception):
    """No connection could be had in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatistics:
    """How many connections there are, how many of them wait for work, and how many there may be."""

    total: int
    idle: int
    maximum: int


class Pool:
    """A bounded set of connections that mends itself."""

    def __init__(self, url: str, *, connections_max: int) -> None:
        # As many as there are connections, so that tasks queue in Trio, where waiting can be cancelled.
        self.places = trio.CapacityLimiter(connections_max)
        self._pool: ConnectionPool[_WaryConnection] = ConnectionPool(
            url,
            connection_class=_WaryConnection,
            kwargs={
                "autocommit": True,
                "application_name": "gatehouse",
                "client_encoding": "UTF8",
                "connect_timeout": CONNECT_SECONDS_MAX,
                "options": _with_time_limits(conninfo_to_dict(url).get("options")),
            },
            min_size=min(CONNECTIONS_MIN, connections_max),
            max_size=connections_max,
            max_idle=IDLE_SECONDS_MAX,
            # The pool's own retries back off until they miss a database that is back; with no time for them it forgets
            # a lost connection at once and makes a new one for whoever waits.
            reconnect_timeout=0.0,
            open=False,
            name="gatehouse",
        )

    def open(self) -> None:
        """Begin to connect, in the background."""
        self._pool.open()

    def close(self) -> None:
        """Close every connection that is not in use; those in use close when they come back."""
        self._pool.close(timeout=CLOSE_SECONDS_MAX)

    @contextmanager
    def connection(self, deadline: float) -> Generator[Connection]:
        """Lend a connection that works; raise `NoConnection` when there is none by that moment of `time.monotonic`.

        Only what can step aside may ask for one.
        """
        connection = self._take(deadline)
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def statistics(self) -> PoolStatistics:
        """Count the connections."""
        measures = self._pool.get_stats()
        return PoolStatistics(
            total=measures["pool_size"], idle=measures["pool_available"], maximum=measures["pool_max"]
        )

    def _take(self, deadline: float) -> _WaryConnection:
        while (remaining_seconds := deadline - time.monotonic()) > 0:
            try:
                connection = self._lent(remaining_seconds)
            except PoolTimeout:
                continue
            except PoolClosed as closed:
                raise NoConnection from closed
            if connection.is_fit(deadline - time.monotonic()):
                return connection
            # Given back closed, it makes room for a new one.
            connection.close()
            self._pool.putconn(connection)
        raise NoConnection

    def _lent(self, seconds_max: float) -> _WaryConnection:
        if self.statistics().idle:
            return self._pool.getconn(timeout=seconds_max)
        # The pool waits in its own way, which is a thread's.
        get = partial(self._pool.getconn, timeout=min(seconds_max, WAIT_ANEW_SECONDS))
        return step_aside(lambda: trio.to_thread.run_sync(get), seconds_max=math.inf)


class _WaryConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that waits for an answer, but not for ever."""

    _complained_at: ClassVar[float] = -math.inf

    _answer_seconds_max = ANSWER_SECONDS_MAX
    _answered_at = 0.0

    @classmethod
    def connect(cls, conninfo: str = "", **kwargs: Any) -> Self:
        """Connect, and tell the log now and then when that fails."""
        try:
            connection = super().connect(conninfo, **kwargs)
        except psycopg.OperationalError as error:
            now = time.monotonic()
            if now - _WaryConnection._complained_at > COMPLAINT_PERIOD_SECONDS:
                _WaryConnection._complained_at = now
                log.warning("database.connect_failed", reason=reason(error))
            raise
        connection._answered_at = time.monotonic()
        return connection

    def wait(self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None) -> Answer:
        """Wait for what the driver waits for; close the connection when it does not come."""
        seconds_max = timeout or self._answer_seconds_max
        try:
            if is_aside():
                wait = partial(waiting.answer, gen, self.pgconn.socket)
                answer = step_aside(wait, seconds_max=seconds_max, spare_seconds=SPARE_SECONDS)
            else:
                answer = super().wait(gen, interval, seconds_max)
        except psycopg.OperationalError:
            # Otherwise it was an answer, if not the one that was hoped for.
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
                log.warning("database.no_answer", seconds=round(self._answer_seconds_max, 1))
            raise
        self._answered_at = time.monotonic()
        return answer

    def is_fit(self, seconds_max: float) -> bool:
        """Say whether it works, asking the other side only when there is a reason to."""
        is_trusted = time.monotonic() - self._answered_at < TRUSTED_SECONDS
        return (is_trusted and not self._has_something_to_say()) or self._answers(seconds_max)

    def _has_something_to_say(self) -> bool:
        # Nobody asked it anything, so this is nearly always the end.
        return bool(waiting.ready_now(self.pgconn.socket, Wait.R))

    def _answers(self, seconds_max: float) -> bool:
        usual = self._answer_seconds_max
        self._answer_seconds_max = seconds_max
        try:
            self.execute("", prepare=False)
        except psycopg.OperationalError:
            return False
        finally:
            self._answer_seconds_max = usual
        return True


def reason(error: psycopg.Error) -> str:
    """Say why a connection failed, and not where the database is."""
    return str(error).partition("\n")[0].rpartition(": ")[2].strip()


def _with_time_limits(options: object) -> str:
    limits = {
        "statement_timeout": f"{STATEMENT_SECONDS_MAX}s",
        "lock_timeout": f"{LOCK_WAIT_SECONDS_MAX}s",
        "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS_MAX}s",
        "timezone": "UTC",
    }
    return " ".join([str(options or ""), *(f"-c {name}={value}" for name, value in limits.items())])
