"""Connections: how many, how long one waits for one, and how one that no longer works is noticed and replaced.

A connection can fail in two ways. It breaks, which its socket shows, or it hangs: the other side neither answers nor
closes. So no connection is lent that is broken or has not shown for a while that it answers, and nothing waits longer
for an answer than PostgreSQL may work on a statement. What runs on a connection is the business of `database.py`.

Whoever needs a connection gets the one that was used last, because behind each stands a process of PostgreSQL, and the
one that has just worked is the quickest (`ops/decisions/0015-several-statements-per-round-trip.md`).
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import psycopg
import structlog
import trio
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.waiting import Wait

from adapters.postgres.driver import waiting
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.greenlets import is_in_greenlet, wait_in_greenlet

if TYPE_CHECKING:
    from collections.abc import Generator

    from outcome import Outcome
    from psycopg.abc import PQGen

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
# Whoever waits looks this often whether it is time to try to connect again.
WAIT_ANEW_SECONDS = 0.1
# So soon after a failure it is not; less, so that whoever looked and failed at once may try when they look again.
CONNECT_ANEW_SECONDS = WAIT_ANEW_SECONDS / 2
# A connection that answered this lately is trusted; asking each time would make every read twice as dear.
TRUSTED_SECONDS = 1.0
# One that nobody needed for so long is given up, and so is one that is so old: the process behind it only grows.
IDLE_SECONDS_MAX = 300.0
AGE_SECONDS_MAX = 3600.0
# An outage is worth a line now and then, not one for each attempt.
COMPLAINT_PERIOD_SECONDS = 10.0

log = structlog.get_logger(__name__)


class NoConnection(Exception):
    """No connection could be had in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPoolStatistics:
    """How many connections there are, how many of them wait for work, and how many there may be."""

    total: int
    idle: int
    maximum: int


class Pool:
    """A bounded set of connections that mends itself."""

    def __init__(self, url: str, *, connections_max: int) -> None:
        # As many as there are connections, so that tasks queue in Trio, where waiting can be cancelled.
        self.places = trio.CapacityLimiter(connections_max)
        self._connect = partial(
            _WaryConnection.connect,
            url,
            autocommit=True,
            application_name="gatehouse",
            client_encoding="UTF8",
            connect_timeout=CONNECT_SECONDS_MAX,
            options=_with_time_limits(conninfo_to_dict(url).get("options")),
        )
        self._maximum = connections_max
        # Those that exist or are on the way, and of these the ones that nobody uses, the one used last at the end.
        self._total = 0
        self._idle: list[_WaryConnection] = []
        self._waiting = trio.lowlevel.ParkingLot()
        self._renewed_at = self._failed_at = -math.inf
        self._is_closed = False

    def close(self) -> None:
        """Close every connection that is not in use; those in use close when they come back."""
        self._is_closed = True
        self.renew()

    def renew(self) -> None:
        """Replace every connection, those in use when they come back."""
        self._renewed_at = time.monotonic()
        while self._idle:
            self._give_up(self._idle.pop())

    @contextmanager
    def connection(self, deadline: float) -> Generator[Connection]:
        """Lend a connection that works; raise `NoConnection` when there is none by that moment of `time.monotonic`.

        Only what can step aside may ask for one.
        """
        wary = self._take(deadline)
        try:
            yield wary.ours
        finally:
            self._take_back(wary)

    def statistics(self) -> PostgresPoolStatistics:
        """Count the connections."""
        return PostgresPoolStatistics(total=self._total, idle=len(self._idle), maximum=self._maximum)

    def _take(self, deadline: float) -> _WaryConnection:
        while (remaining_seconds := deadline - time.monotonic()) > 0 and not self._is_closed:
            if not self._idle:
                self._begin_to_connect()
                wait = partial(self._wait, min(remaining_seconds, WAIT_ANEW_SECONDS))
                wait_in_greenlet(wait, seconds_max=math.inf)
                continue
            wary = self._idle.pop()
            # Something on the way may have forgotten it by now, and then to ask would take all the time there is.
            has_rested = time.monotonic() - wary.idle_since > IDLE_SECONDS_MAX
            if not has_rested and wary.is_fit(deadline - time.monotonic()):
                return wary
            self._give_up(wary)
        raise NoConnection

    async def _wait(self, seconds_max: float) -> None:
        with trio.move_on_after(seconds_max):
            await self._waiting.park()

    def _begin_to_connect(self) -> None:
        """Connect on a thread; whoever waits is not told when it fails, but looks again."""
        # Those who wait look again whenever a connection comes back, which may be a thousand times a second.
        has_just_failed = time.monotonic() - self._failed_at < CONNECT_ANEW_SECONDS
        if self._total >= self._maximum or has_just_failed:
            return
        self._total += 1
        token = trio.lowlevel.current_trio_token()

        def deliver(connected: Outcome[_WaryConnection]) -> None:
            try:
                token.run_sync_soon(self._arrived, connected)
            except trio.RunFinishedError:
                self._arrived(connected)

        try:
            trio.lowlevel.start_thread_soon(self._connect, deliver)
        except RuntimeError as error:
            # The system has no thread to spare.
            self._failed()
            _complain(error)

    def _arrived(self, connected: Outcome[_WaryConnection]) -> None:
        try:
            wary = connected.unwrap()
        except (psycopg.Error, OSError):
            self._failed()
        else:
            self._take_back(wary)

    def _failed(self) -> None:
        self._total -= 1
        self._failed_at = time.monotonic()

    def _take_back(self, wary: _WaryConnection) -> None:
        now = time.monotonic()
        # What waits would go with the first statement of whoever comes next.
        wary.ours.rollback()
        is_outdated = wary.connected_at <= self._renewed_at or now - wary.connected_at > AGE_SECONDS_MAX
        if self._is_closed or is_outdated or not wary.is_between_statements:
            self._give_up(wary)
        else:
            wary.idle_since = now
            self._idle.append(wary)
        if self._idle and now - self._idle[0].idle_since > IDLE_SECONDS_MAX:
            self._give_up(self._idle.pop(0))
        self._waiting.unpark()

    def _give_up(self, wary: _WaryConnection) -> None:
        self._total -= 1
        wary.close()


class _WaryConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that waits for an answer, but not for ever."""

    complained_at: ClassVar[float] = -math.inf

    ours: Connection
    connected_at = 0.0
    idle_since = 0.0
    _answer_seconds_max = ANSWER_SECONDS_MAX
    _has_spare_seconds = True
    _answered_at = 0.0

    @classmethod
    def connect(cls, conninfo: str = "", **kwargs: Any) -> Self:
        """Connect, and tell the log now and then when that fails."""
        try:
            connection = super().connect(conninfo, **kwargs)
        except (psycopg.OperationalError, OSError) as error:
            # The driver hands on what the system says, for instance that there are too many open files.
            _complain(error)
            raise
        connection.connected_at = connection._answered_at = time.monotonic()
        connection.ours = Connection(connection)
        return connection

    def wait(self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None) -> Answer:
        """Wait for what the driver waits for; close the connection when it does not come."""
        seconds_max = timeout or self._answer_seconds_max
        try:
            if is_in_greenlet():
                spare_seconds = SPARE_SECONDS if self._has_spare_seconds else 0.0
                answer = waiting.answer(gen, self.pgconn.socket, seconds_max=seconds_max, spare_seconds=spare_seconds)
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

    @property
    def is_between_statements(self) -> bool:
        """Whether somebody else can use it."""
        return not self.closed and self.pgconn.transaction_status == TransactionStatus.IDLE

    def is_fit(self, seconds_max: float) -> bool:
        """Say whether it works, asking the other side only when there is a reason to."""
        is_trusted = time.monotonic() - self._answered_at < TRUSTED_SECONDS
        return (is_trusted and not self._has_something_to_say()) or self._answers(seconds_max)

    def _has_something_to_say(self) -> bool:
        # Nobody asked it anything, so this is nearly always the end.
        return bool(waiting.ready_now(self.pgconn.socket, Wait.R))

    def _answers(self, seconds_max: float) -> bool:
        usual = self._answer_seconds_max
        self._answer_seconds_max, self._has_spare_seconds = seconds_max, False
        try:
            self.execute("", prepare=False)
        except psycopg.OperationalError:
            return False
        finally:
            self._answer_seconds_max, self._has_spare_seconds = usual, True
        return True


def _complain(error: Exception) -> None:
    now = time.monotonic()
    if now - _WaryConnection.complained_at > COMPLAINT_PERIOD_SECONDS:
        _WaryConnection.complained_at = now
        log.warning("database.connect_failed", reason=reason(error))


def reason(error: Exception) -> str:
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
