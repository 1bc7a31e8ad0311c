"""The driver's connection, with a deadline for every answer and a check whether the other side still answers.

A connection fails in two ways. It breaks, which its socket shows, or it hangs: the other side neither answers nor
closes. Nothing waits longer for an answer than PostgreSQL may work on a statement. The driver yields what its socket
must be ready for, and leaves the waiting to its caller: here that is Trio.
"""

from __future__ import annotations

import math
import select
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Final, Self, TypeVar

import psycopg
import structlog
import trio
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait

from adapters.postgres.driver import servers, suitability
from adapters.postgres.driver.greenlets import is_in_greenlet, wait_in_greenlet
from core.spaced_reports import SpacedReports

Answer = TypeVar("Answer")

STATEMENT_SECONDS_MAX = 5
LOCK_WAIT_SECONDS_MAX = 3
IDLE_IN_TRANSACTION_SECONDS_MAX = 10
# PostgreSQL ends a statement before this, so a server that is still silent then hangs, and may never answer.
ANSWER_SECONDS_MAX = STATEMENT_SECONDS_MAX + 1.0
# Several statements in a row share one deadline, which is this much later than the deadline of the first.
SPARE_SECONDS = 0.5
# The shortest time that libpq accepts.
CONNECT_SECONDS_MAX = 2
# A connection that answered this lately is used without a check, which would double the cost of every read.
TRUSTED_SECONDS = 1.0

# As PostgreSQL shows them.
SESSION_SETTINGS: Final = {
    "statement_timeout": f"{STATEMENT_SECONDS_MAX}s",
    "lock_timeout": f"{LOCK_WAIT_SECONDS_MAX}s",
    "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS_MAX}s",
    "TimeZone": "UTC",
}
# Requested in the same way; a session without them does the same work, but slower.
ADVISED_SETTINGS: Final = {
    # Compiling one of our statements takes longer than running it, and happens anew each time.
    "jit": "off",
}

# The same for two sessions only in one database of one running server.
_PLACE: Final = "SELECT current_database(), pg_postmaster_start_time()"
log = structlog.get_logger(__name__)

# An outage is logged now and then, not once for each attempt.
connect_failures = SpacedReports()
silences = SpacedReports()


class TimedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection of the driver that waits for an answer until a deadline, and is closed when it passes."""

    # The host and the port that the last connection was made to.
    last_server: ClassVar[tuple[str, str]] = ("", "")

    connected_at = 0.0
    # Whether a pooler between gives each transaction any of its sessions.
    is_pooled = False
    _answer_seconds_max = ANSWER_SECONDS_MAX
    _has_spare_seconds = True
    _answered_at = 0.0

    @classmethod
    def open(cls, url: str) -> Self:
        """Connect in autocommit mode with our settings; log now and then when that fails."""
        try:
            connection = cls._connected(servers.beginning_with(TimedConnection.last_server, url))
            connection._require_suitable()
        except (psycopg.Error, OSError) as error:
            # The driver passes on errors of the system, for instance that too many files are open.
            problem = suitability.explained(error)
            log_failure(problem)
            raise problem from None
        connection.connected_at = time.monotonic()
        TimedConnection.last_server = connection.info.host, str(connection.info.port)
        return connection

    @classmethod
    def _connected(cls, url: str, **others: str) -> Self:
        return cls.connect(
            url,
            autocommit=True,
            application_name="gatehouse",
            client_encoding="UTF8",
            connect_timeout=CONNECT_SECONDS_MAX,
            options=with_settings(url, SESSION_SETTINGS | ADVISED_SETTINGS | others),
        )

    def _require_suitable(self, *, takes_writes: bool = True) -> None:
        try:
            with self.answering_within(CONNECT_SECONDS_MAX):
                self.is_pooled = suitability.require_suitable(self, SESSION_SETTINGS, takes_writes=takes_writes)
        except BaseException:
            self.close()
            raise

    def wait(self, gen: PQGen[Answer], interval: float = 0.1, timeout: float | None = None) -> Answer:
        """Run one of the driver's generators; close the connection when no answer comes in time."""
        seconds_max = timeout or self._answer_seconds_max
        try:
            if is_in_greenlet():
                spare_seconds = SPARE_SECONDS if self._has_spare_seconds else None
                answer = answer_of(gen, self.pgconn.socket, seconds_max=seconds_max, spare_seconds=spare_seconds)
            else:
                answer = super().wait(gen, interval, seconds_max)
        except psycopg.OperationalError:
            # In any other state the error was PostgreSQL's answer.
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
                self._log_no_answer(round(self._answer_seconds_max, 1))
            raise
        self._answered_at = time.monotonic()
        return answer

    def _log_no_answer(self, seconds: float) -> None:
        if (times := silences.count(time.monotonic(), seconds)) is not None:
            log.warning("database.no_answer", seconds=seconds, times=times)

    @property
    def is_idle(self) -> bool:
        """Whether it is open and outside a transaction."""
        return not self.closed and self.pgconn.transaction_status == TransactionStatus.IDLE

    def is_alive(self, seconds_max: float) -> bool:
        """Return whether the other side answers; a statement is sent only when that is in doubt."""
        is_trusted = time.monotonic() - self._answered_at < TRUSTED_SECONDS
        return (is_trusted and not self._has_unread_data()) or self._answers(seconds_max)

    def _has_unread_data(self) -> bool:
        # No statement is open, so data to be read are nearly always the end of the connection.
        return bool(ready_now(self.pgconn.socket, Wait.R))

    def _answers(self, seconds_max: float) -> bool:
        try:
            with self.answering_within(seconds_max):
                self.execute("", prepare=False)
        except psycopg.OperationalError:
            return False
        return True

    @contextmanager
    def answering_within(self, seconds_max: float) -> Generator[None]:
        """Wait for answers no longer than that in the block."""
        usual = self._answer_seconds_max
        self._answer_seconds_max, self._has_spare_seconds = seconds_max, False
        try:
            yield
        finally:
            self._answer_seconds_max, self._has_spare_seconds = usual, True


def open_unshared(url: str) -> TimedConnection:
    """Connect; raise `ServerUnsuitable` when a pooler shares the session among its clients."""
    connection = _open_twice(url)
    if connection.is_pooled:
        connection.close()
        raise suitability.SessionShared
    return connection


def problem_of(url: str, *, needs_session: bool) -> str | None:
    """Return why connections to a server cannot be used; None when they can."""
    try:
        (open_unshared if needs_session else _open_twice)(url).close()
    except (psycopg.Error, OSError) as error:
        return suitability.reason(error)
    return None


def is_pooled(url: str) -> bool:
    """Return whether a pooler shares the sessions of a server among its clients."""
    with TimedConnection.open(url) as connection:
        return connection.is_pooled


def _open_twice(url: str) -> TimedConnection:
    """Connect, and connect a second time for a moment: an old pooler may give that the same session unnoticed."""
    connection = TimedConnection.open(url)
    try:
        TimedConnection.open(url).close()
    except BaseException:
        connection.close()
        raise
    return connection


def difference(url: str, other_url: str) -> str | None:
    """Return what distinguishes the databases of two addresses; None when both lead to the same one."""
    with TimedConnection.open(url) as connection, TimedConnection.open(other_url) as other:
        is_same = connection.execute(_PLACE).fetchone() == other.execute(_PLACE).fetchone()
    return None if is_same else "it is another database"


def log_failure(error: Exception) -> None:
    """Log that connecting failed, unless that was logged a moment ago."""
    if (times := connect_failures.count(time.monotonic())) is not None:
        log.warning("database.connect_failed", reason=suitability.reason(error), times=times)


def with_settings(url: str, settings: Mapping[str, str]) -> str:
    """Return the start-up parameter `options` of an address, with these settings as well."""
    options = conninfo_to_dict(url).get("options")
    return " ".join([str(options or ""), *(f"-c {name}={value}" for name, value in settings.items())]).strip()


def answer_of(work: PQGen[Answer], socket: int, *, seconds_max: float, spare_seconds: float | None) -> Answer:
    """Run one of the driver's generators to its result; raise `psycopg.OperationalError` at the deadline.

    After that the greenlet can no longer wait for anything, unless `spare_seconds` is None.
    """
    wait = (
        partial(_wait_alone, until=trio.current_time() + seconds_max)
        if spare_seconds is None
        else partial(wait_in_greenlet, seconds_max=seconds_max, spare_seconds=spare_seconds)
    )
    until_readable = partial(trio.lowlevel.wait_readable, socket)
    try:
        wanted = next(work)
        while True:
            if wanted == Wait.R:
                wait(until_readable)
                ready: int = Ready.R
            else:
                # A socket can nearly always be written to, and checking is cheaper than a step of the event loop.
                while not (ready := ready_now(socket, wanted)):
                    until_either = partial(_until_readable_or_writable, socket)
                    wait(until_either)
            wanted = work.send(ready)
    except StopIteration as end:
        return end.value
    except (trio.Cancelled, trio.TooSlowError):
        raise psycopg.OperationalError("There was no answer in time.") from None


def _wait_alone(wait: Callable[[], Awaitable[object]], *, until: float) -> None:
    """Await something in a scope of its own, so that only this wait ends at that time."""

    async def wait_until() -> None:
        with trio.fail_at(until):
            await wait()

    wait_in_greenlet(wait_until, seconds_max=math.inf)


def ready_now(socket: int, wanted: Wait) -> int:
    """Return what the socket is ready for, without waiting."""
    poll = select.poll()
    poll.register(socket, (select.POLLIN if wanted & Wait.R else 0) | (select.POLLOUT if wanted & Wait.W else 0))
    ready = 0
    for _, events in poll.poll(0):
        if events & ~select.POLLOUT:
            ready |= Ready.R
        if events & select.POLLOUT:
            ready |= Ready.W
    return ready


async def _until_readable_or_writable(socket: int) -> None:
    try:
        async with trio.open_nursery() as nursery:

            async def until(is_ready: Callable[[int], Awaitable[None]]) -> None:
                await is_ready(socket)
                nursery.cancel_scope.cancel()

            nursery.start_soon(until, trio.lowlevel.wait_readable)
            nursery.start_soon(until, trio.lowlevel.wait_writable)
    except* trio.Cancelled:
        # The two tasks raise it in a group, but the caller handles `trio.Cancelled` alone, raised below.
        pass
    await trio.lowlevel.checkpoint_if_cancelled()
