"""One replica: its connections, whether it is in use, and whether it has replayed what a request has to see.

A connection to a replica is read-only, and refused unless it is a standby of our primary.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Self
from weakref import WeakKeyDictionary

import psycopg
import structlog
import trio
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.driver import suitability
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.greenlets import wait_in_greenlet
from adapters.postgres.driver.pool import NoConnection, Pool, Pooled
from adapters.postgres.driver.positions import Position, offset_of
from adapters.postgres.driver.suitability import ServerUnsuitable
from adapters.postgres.driver.timed_connection import CONNECT_SECONDS_MAX, TimedConnection
from core.lazy_dataclasses import dataclass
from core.platform.system import PrimaryPlace

_WHO: Final = "SELECT pg_is_in_recovery(), system_identifier, current_database() FROM pg_control_system()"
NO_STANDBY: Final = "it is no standby, because it was promoted, or is the primary itself"
ELSEWHERE: Final = "it is no standby of the database in GATEHOUSE_DATABASE_URL"

log = structlog.get_logger(__name__)
# For a connection and for the replica to come to the position of the request, together.
REACH_SECONDS_MAX: Final = 0.05
FIRST_PAUSE_SECONDS: Final = 0.001
# A replica that was not there in time is not tried for a moment, so that few requests wait in vain.
REST_SECONDS: Final = 0.5
# For a look: an attempt to connect is over before, and a server that does not say where it is within the other hangs.
CONNECTION_SECONDS_MAX: Final = CONNECT_SECONDS_MAX + 0.5
ANSWER_SECONDS_MAX: Final = 2.0
# The position of a replica. The timeline is read from its receiver, which a role with `pg_read_all_stats` may see, or
# from its last restart point: it is queried when the primary's differs from the one that this connection has seen.
PLACE: Final = "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn()"
PLACE_AND_TIMELINE: Final = """
    SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn(),
           greatest((SELECT timeline_id FROM pg_control_checkpoint()), (SELECT received_tli FROM pg_stat_wal_receiver))
"""
_NO_CONNECTION: Final = "it gave no connection in time"


@dataclass(slots=True)
class Primary:
    """What is known of the primary; None until it was asked."""

    place: PrimaryPlace | None = None


def is_same(one: PrimaryPlace, other: PrimaryPlace) -> bool:
    """Return whether two servers are of the same installation of PostgreSQL, and the database is the same."""
    return (one.system_identifier, one.database) == (other.system_identifier, other.database)


class ReplicaDriver(TimedConnection):
    """A connection of the driver to a standby of the primary."""

    @classmethod
    def open_to(cls, url: str, primary: Primary) -> Self:
        """Connect in autocommit mode with our settings; raise an error of the driver when it cannot be used."""
        try:
            # A standby is read-only anyway; this way it takes no writes of ours after a promotion either.
            connection = cls._connected(url, default_transaction_read_only="on")
            connection._require_suitable(takes_writes=False)
            connection._require_standby_of(primary)
        except (psycopg.Error, OSError) as error:
            raise suitability.explained(error) from None
        connection.connected_at = time.monotonic()
        return connection

    def _log_no_answer(self, seconds: float) -> None:
        log.warning("replica.no_answer", seconds=seconds)

    def _require_standby_of(self, primary: Primary) -> None:
        try:
            with self.answering_within(CONNECT_SECONDS_MAX):
                row = self.execute(_WHO, prepare=False).fetchone()
            assert row is not None, "a server has one control file"
            is_standby, system_identifier, database = row
            place = PrimaryPlace(system_identifier=system_identifier, database=database, position="")
            if primary.place is None or not is_same(primary.place, place):
                raise ServerUnsuitable(ELSEWHERE)
            if not is_standby:
                raise ServerUnsuitable(NO_STANDBY)
        except BaseException:
            self.close()
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The state of a replica: whether it still is a standby, and how far it has replayed the log."""

    is_standby: bool
    replayed: Position


class Replica:
    """A standby that the settings name; in use from the first look that finds nothing wrong with it."""

    def __init__(
        self, url: str, primary: Primary, *, connections_max: int, connection: Callable[..., Connection]
    ) -> None:
        self.name = name_of(url)
        self._open = partial(ReplicaDriver.open_to, url, primary)
        # One more, so that it can be looked at whatever requests do.
        self.pool = Pool(url, connections_max=connections_max + 1, connection=connection, connect=self._connect)
        self.is_in_use = False
        # Why it is not in use; empty before the first look, and when it is.
        self.problem = ""
        self._rests_until = -math.inf
        # Why the last attempt to connect failed; empty when it succeeded.
        self._connect_failure = ""
        # How far the server behind a connection was when it was asked last: a name may lead to several servers.
        self._replayed: WeakKeyDictionary[Connection, Position] = WeakKeyDictionary()

    @property
    def may_be_asked(self) -> bool:
        """Whether it is in use and has not just been too late."""
        return self.is_in_use and time.monotonic() >= self._rests_until

    def take(self) -> None:
        """Use it from now on."""
        if not self.is_in_use:
            log.info("replica.taken", replica=self.name)
        self.is_in_use, self.problem = True, ""

    def leave(self, reason: str) -> None:
        """Do not use it until it is taken again."""
        if reason != self.problem:
            log.warning("replica.left", replica=self.name, reason=reason)
        self.is_in_use, self.problem = False, reason
        self.pool.renew()

    def look(self) -> Answered:
        """Ask where it is, over a connection that requests use as well; raise an error of the driver when it cannot.

        To be called inside `run_in_greenlet`.
        """
        try:
            pooled = self.pool.take(time.monotonic() + CONNECTION_SECONDS_MAX)
        except NoConnection:
            raise ServerUnsuitable(self._connect_failure or _NO_CONNECTION) from None
        try:
            with pooled.driver.answering_within(ANSWER_SECONDS_MAX):
                return self.ask(pooled.connection, None)
        finally:
            self.pool.give_back(pooled)

    def _connect(self) -> ReplicaDriver:
        try:
            driver = self._open()
        except (psycopg.Error, OSError) as error:
            self._connect_failure = suitability.reason(error)
            raise
        self._connect_failure = ""
        return driver

    def connection_at(self, position: Position) -> Pooled | None:
        """Return a connection that shows everything up to a position of the primary; None when it has none in time.

        To be called inside `run_in_greenlet`; it is given back to the pool.
        """
        deadline = time.monotonic() + REACH_SECONDS_MAX
        try:
            pooled = self.pool.take(deadline)
        except NoConnection:
            self._rest(_NO_CONNECTION)
            return None
        pooled.connection.has_failed = False
        try:
            if self._reaches(pooled, position, deadline):
                return pooled
            self._rest("it had not replayed the log that far")
        except psycopg.Error as error:
            if pooled.connection.closed and time.monotonic() < deadline:
                self.leave(f"its connection broke ({type(error).__name__})")
            else:
                self._rest(type(error).__name__)
        self.pool.give_back(pooled)
        return None

    def _rest(self, reason: str) -> None:
        self._rests_until = time.monotonic() + REST_SECONDS
        log.debug("replica.too_late", replica=self.name, reason=reason)

    def _reaches(self, pooled: Pooled, position: Position, deadline: float) -> bool:
        connection = pooled.connection
        known = self._replayed.get(connection)
        pause = FIRST_PAUSE_SECONDS
        while not _shows(known, position):
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            if known is not None and pause > FIRST_PAUSE_SECONDS:
                wait_in_greenlet(partial(trio.sleep, min(pause, remaining)), seconds_max=math.inf)
            pause *= 2
            with pooled.driver.answering_within(max(deadline - time.monotonic(), FIRST_PAUSE_SECONDS)):
                answered = self.ask(connection, known if _is_on(known, position) else None)
            if not answered.is_standby:
                self.leave(NO_STANDBY)
                return False
            known = self._replayed[connection] = answered.replayed
        return True

    @staticmethod
    def ask(connection: Connection, known: Position | None) -> Answered:
        """Read the position of a replica, on its last known timeline or on the one that it names."""
        row: Any = connection.execute(PLACE if known is not None else PLACE_AND_TIMELINE).fetchone()
        is_standby, lsn, *timelines = row
        timeline = known.timeline if known is not None else timelines[0]
        return Answered(is_standby=is_standby, replayed=Position(timeline, offset_of(lsn) if lsn is not None else 0))


def _is_on(known: Position | None, position: Position) -> bool:
    return known is not None and known.timeline == position.timeline


def _shows(known: Position | None, position: Position) -> bool:
    return known is not None and known.timeline == position.timeline and known.offset >= position.offset


def name_of(url: str) -> str:
    """Return the servers of an address, for logs and labels."""
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "replica"
    hosts = str(parameters.get("host") or parameters.get("hostaddr") or "localhost")
    port = parameters.get("port")
    return f"{hosts}:{port}" if port else hosts
