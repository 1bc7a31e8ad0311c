"""Waiting for locks that other sessions hold: in several short tries, and for a bounded time.

Every other statement on a table queues behind one that waits for it, so a try is short. Between tries, the runner waits
without a lock for the sessions that held it, so that nothing queues. After a deadlock it need not wait: the other
session goes on at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final, LiteralString, TypeAlias, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.errors import DeadlockDetected, LockNotAvailable
from psycopg.rows import class_row
from psycopg.sql import SQL

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.driver.suitability import reason
from core.lazy_dataclasses import dataclass

Report: TypeAlias = Callable[[str], None]
_Result = TypeVar("_Result")

APPLICATION_NAME: Final = "gatehouse migrate"
LOOK_SECONDS: Final = 1.0
POLL_SECONDS: Final = 0.1
# So that what has queued behind a try is served before the next one.
PAUSE_SECONDS_MIN: Final = 0.5
# Where a look has found no holder, the holder of the table is most likely gone.
PAUSE_SECONDS_UNSEEN: Final = 1.0
CONNECT_SECONDS_MAX: Final = 2
SESSIONS_NAMED_MAX: Final = 3
# What a role may not know of the sessions of others is null.
_SESSIONS: Final = """
    SELECT    b.pid, b.transaction, nullif(a.application_name, '') AS program, a.usename::text AS role, a.state,
              a.backend_type AS kind, extract(epoch FROM clock_timestamp() - a.xact_start)::float8 AS seconds
    FROM      ({found}) b
    LEFT JOIN pg_stat_activity a ON a.pid = b.pid
    ORDER BY  a.xact_start, b.pid
"""
_BLOCKING: Final = """
    SELECT    p.pid, l.virtualtransaction AS transaction
    FROM      (SELECT DISTINCT unnest(pg_blocking_pids({key})) AS pid) p
    LEFT JOIN pg_locks l ON l.pid = p.pid AND l.locktype = 'virtualxid' AND l.granted
                            AND l.virtualxid = l.virtualtransaction
"""
# Without VACUUM, also PostgreSQL's own, which gives way to others that wait.
_USING: Final = """
    SELECT DISTINCT coalesce(pid, 0) AS pid, virtualtransaction AS transaction
    FROM   pg_locks
    WHERE  locktype = 'relation' AND relation = to_regclass({key}) AND granted
      AND  database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND  pid IS DISTINCT FROM pg_backend_pid() AND mode <> 'ShareUpdateExclusiveLock'
"""
_ARE_OPEN: Final = "SELECT FROM pg_locks WHERE virtualtransaction = ANY(%s) LIMIT 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWaits:
    """How long a change waits: in each try, between two of them at the longest, and in all."""

    try_seconds: float
    between_seconds: float
    total_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that another one waits for, as far as the role may know; it has no process when it was prepared."""

    pid: int
    transaction: str | None
    program: str | None
    role: str | None
    state: str | None
    kind: str | None
    seconds: float | None

    def __str__(self) -> str:
        if not self.pid:
            return "a prepared transaction (pg_prepared_xacts)"
        kind = self.kind if self.kind != "client backend" else None
        facts = [(self.program or kind or "a program without a name") + (f" of {self.role}" if self.role else "")]
        facts += [self.state] if self.state else []
        facts += [f"its transaction open for {self.seconds:.0f} s"] if self.seconds is not None else []
        return f"session {self.pid} ({', '.join(facts)})"


@dataclass
class Looked:
    """What was seen of the sessions that a try waited for."""

    sessions: tuple[Session, ...] = ()
    problem: str = ""

    def __str__(self) -> str:
        if not self.sessions:
            return f"no session that could be seen{self.problem}"
        left = len(self.sessions) - SESSIONS_NAMED_MAX
        named = ", ".join(map(str, self.sessions[:SESSIONS_NAMED_MAX]))
        return named + (f" and {left} more" if left > 0 else "")

    @property
    def is_known(self) -> bool:
        """Whether sessions were seen, or cannot be: then they may hold on for long."""
        return bool(self.sessions or self.problem)

    @property
    def advice(self) -> str:
        """What to do about them."""
        pid = next((session.pid for session in self.sessions if session.pid), None)
        if pid is None:
            return "Look in pg_stat_activity for transactions that are open for long, and end what does them"
        return f"End what it does there, or the session itself with SELECT pg_terminate_backend({pid})"


class NotGranted(Exception):
    """The time is over; `looked` has the sessions that the last try waited for."""

    def __init__(self, looked: Looked, tries: int, waits: LockWaits, *, is_deadlock: bool = False) -> None:
        super().__init__(looked, tries, waits)
        self.looked = looked
        self.is_deadlock = is_deadlock
        self.tries = tries
        self.waits = waits

    @property
    def last(self) -> str:
        """What happened to the last try."""
        return (
            f"The last try was in a deadlock with {self.looked}"
            if self.is_deadlock
            else f"They are held by {self.looked}"
        )


def when_granted(
    connection: RawConnection, attempt: Callable[[], _Result], *, what: str, waits: LockWaits, report: Report
) -> _Result:
    """Return what the attempt returns, which may be repeated; raise `NotGranted` when it never gets its locks.

    It leaves nothing behind when it fails. `what` names it in what is reported.
    """
    looker = _Looker(connection)
    try:
        return _when_granted(connection, attempt, looker, what=what, waits=waits, report=report)
    finally:
        looker.close()


def _when_granted(
    connection: RawConnection,
    attempt: Callable[[], _Result],
    looker: _Looker,
    *,
    what: str,
    waits: LockWaits,
    report: Report,
) -> _Result:
    # So that the last try is over by then.
    last_at = time.monotonic() + waits.total_seconds - waits.try_seconds
    tries = 1
    while True:
        pid = limit_waits(connection, seconds_max=waits.try_seconds)
        with looker.looking(pid, waits.try_seconds) as looked:
            try:
                return attempt()
            except (LockNotAvailable, DeadlockDetected) as error:
                failure = error
        left = last_at - time.monotonic()
        if left <= 0:
            raise NotGranted(looked, tries, waits, is_deadlock=isinstance(failure, DeadlockDetected)) from failure
        giving_up = f"giving up in {left + waits.try_seconds:.0f} s."
        if isinstance(failure, DeadlockDetected):
            report(
                f"{what}, try {tries}: was in a deadlock with {looked}, each waiting for what the other held, and gave"
                f" way. Trying again in {PAUSE_SECONDS_MIN:g} s; {giving_up}"
            )
            time.sleep(min(PAUSE_SECONDS_MIN, left))
        else:
            pause = min(waits.between_seconds if looked.is_known else PAUSE_SECONDS_UNSEEN, left)
            report(
                f"{what}, try {tries}: waited {waits.try_seconds:g} s, and gave way, so that other requests do not"
                f" queue behind it. What it needs is held by {looked}. Trying again when that has ended, at the latest"
                f" in {pause:.0f} s; {giving_up}"
            )
            _pause(connection, looked.sessions, seconds_max=pause, seconds_min=PAUSE_SECONDS_MIN)
        tries += 1


def wait_for_users(connection: RawConnection, table: str, *, what: str, waits: LockWaits, report: Report) -> None:
    """Return when every transaction that uses a table now has ended; raise `NotGranted` when one does not.

    Nothing queues behind this wait.
    """
    give_up_at = time.monotonic() + waits.total_seconds
    using = Looked(sessions=_sessions(connection, _USING, table))
    while _are_open(connection, using.sessions):
        left = give_up_at - time.monotonic()
        if left <= 0:
            raise NotGranted(using, 1, waits)
        report(
            f"{what}: waiting until what uses {table} now has ended: {using}. No other request waits for this; giving"
            f" up in {left:.0f} s."
        )
        _pause(connection, using.sessions, seconds_max=min(waits.between_seconds, left), seconds_min=0.0)


def limit_waits(connection: RawConnection, *, seconds_max: float) -> int:
    """Bound each wait for a lock, and nothing else; return the process of the session.

    A migration may run long, whatever limit the role has.
    """
    row = connection.execute(
        """
        SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', %s, false), pg_backend_pid()
        """,
        (f"{seconds_max * 1000:.0f}ms",),
    ).fetchone()
    assert row is not None, "a SELECT without FROM returns one row"
    return row[2]


def _pause(connection: RawConnection, sessions: Sequence[Session], *, seconds_max: float, seconds_min: float) -> None:
    """Wait until the transactions of these sessions have ended; as long as it may be when none is known."""
    started = time.monotonic()
    while (passed := time.monotonic() - started) < seconds_max:
        if passed >= seconds_min and sessions and not _are_open(connection, sessions):
            return
        time.sleep(min(POLL_SECONDS, seconds_max - passed))


def _are_open(connection: RawConnection, sessions: Sequence[Session]) -> bool:
    """Return whether one of the transactions is open; an unknown one counts as open."""
    transactions = [session.transaction for session in sessions]
    return None in transactions or connection.execute(_ARE_OPEN, (transactions,)).rowcount > 0


def _sessions(connection: RawConnection, found: LiteralString, key: int | str) -> tuple[Session, ...]:
    cursor = connection.cursor(row_factory=class_row(Session))
    return tuple(cursor.execute(SQL(_SESSIONS).format(found=SQL(found).format(key=key))))


class _Looker:
    """Looks, over another connection, at what a connection waits for; it is made by the first look, and kept."""

    def __init__(self, connection: RawConnection) -> None:
        self._address = _address_of(connection)
        self._looking: RawConnection | None = None

    @contextmanager
    def looking(self, pid: int, try_seconds: float) -> Generator[Looked]:
        """Look when the block takes longer than most statements."""
        looked, ended = Looked(), threading.Event()
        looker = threading.Thread(
            target=self._look, args=(pid, looked, ended, min(LOOK_SECONDS, try_seconds / 3)), daemon=True
        )
        looker.start()
        try:
            yield looked
        finally:
            ended.set()
            looker.join()

    def close(self) -> None:
        """Close the connection."""
        if self._looking is not None:
            self._looking.close()

    def _look(self, pid: int, looked: Looked, ended: threading.Event, period_seconds: float) -> None:
        if ended.wait(period_seconds):
            return
        try:
            if self._looking is None or self._looking.closed:
                self._looking = psycopg.connect(
                    self._address,
                    autocommit=True,
                    connect_timeout=CONNECT_SECONDS_MAX,
                    application_name=APPLICATION_NAME,
                )
            while not ended.is_set():
                if sessions := _sessions(self._looking, _BLOCKING, pid):
                    looked.sessions = sessions
                ended.wait(period_seconds)
                # A long statement is checked seldom.
                period_seconds = min(2 * period_seconds, LOOK_SECONDS)
        except psycopg.Error as error:
            # It only explains: without it the waiting goes on, and the output says so.
            looked.problem = f" ({reason(error)})"


def _address_of(connection: RawConnection) -> str:
    """Return the address that the connection was made with; the driver gives it without the password."""
    password = connection.info.password
    return make_conninfo(connection.info.dsn, **({"password": password} if password else {}))
