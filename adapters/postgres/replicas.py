"""The replicas that lists, logs and figures are read from, and when they are left and taken back.

`Reading` belongs to one run of a use case. It takes a connection to a replica when that run first reads elsewhere, and
only if the replica shows everything up to where the primary was when the caller was read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

import psycopg
import structlog
import trio
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction

from adapters.postgres.driver import suitability
from adapters.postgres.driver.columns import kwargs_row
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.postgres.driver.pool import Pooled
from adapters.postgres.driver.positions import Moments, Position
from adapters.postgres.driver.replica import ELSEWHERE, NO_STANDBY, Primary, Replica, ReplicaDriver, is_same, name_of
from adapters.postgres.platform.system import PLACE
from core.lazy_dataclasses import dataclass
from core.platform.system import PrimaryPlace
from ports.metrics import ReplicaMetrics

PRIMARY: Final = "primary"
LAG_SECONDS_MAX: Final = 5.0
# One that was left has caught up before it is used again.
TAKEN_BACK_LAG_SECONDS_MAX: Final = 1.0
LOOK_AGAIN_SECONDS_MAX: Final = 10.0
TOO_FAR_BEHIND: Final = f"it is more than {LAG_SECONDS_MAX:.0f} s behind the primary"
OTHER_TIMELINE: Final = "it does not follow the present primary"

log = structlog.get_logger(__name__)
FOLLOW_SECONDS_MAX: Final = 2.0
_POLL_SECONDS: Final = 0.02
_SCHEMA: Final = "SELECT max(version) FROM schema_migrations"
_LAST_REPLAYED: Final = "SELECT coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0)::float8"


class Replicas:
    """The port `ReplicaSet`."""

    def __init__(
        self,
        urls: Sequence[str],
        *,
        connections_max: int,
        metrics: ReplicaMetrics,
        connection: Callable[..., Connection] = Connection,
    ) -> None:
        self._primary = Primary()
        self._moments = Moments()
        self._metrics = metrics
        self._looked_at = [
            _LookedAt(Replica(url, self._primary, connections_max=connections_max, connection=connection))
            for url in urls
        ]
        self._turn = 0

    def close(self) -> None:
        """Close all connections."""
        for one in self._looked_at:
            one.close()

    def reading(self) -> Reading:
        """Return what one run of a use case reads elsewhere."""
        return Reading(self)

    def next(self) -> Replica | None:
        """Return the replica whose turn it is; None when none may be asked."""
        replicas = [one.replica for one in self._looked_at if one.replica.may_be_asked]
        self._turn += 1
        return replicas[self._turn % len(replicas)] if replicas else None

    def count(self, place: str) -> None:
        """Count a use case that has read at this place."""
        self._metrics.read_elsewhere(place)

    async def look(self, primary: PrimaryPlace) -> None:
        if self._primary.place is not None and not is_same(self._primary.place, primary):
            # Connections are compared with the primary only when they are opened.
            for one in self._looked_at:
                one.fail(ELSEWHERE)
        self._primary.place = primary
        position = Position.of(primary.position)
        self._moments.add(time.monotonic(), position)
        async with trio.open_nursery() as nursery:
            for one in self._looked_at:
                nursery.start_soon(self._look_at, one, position)

    async def _look_at(self, one: _LookedAt, position: Position) -> None:
        replica = one.replica
        replica.pool.shrink()
        if not one.is_due:
            return
        try:
            replayed = await one.replayed()
        except (psycopg.Error, OSError) as error:
            one.fail(suitability.reason(error))
            self._metrics.replica_seen(replica.name, lag_seconds=None, is_in_use=False)
            return
        if replayed.timeline != position.timeline:
            one.fail(OTHER_TIMELINE)
            self._metrics.replica_seen(replica.name, lag_seconds=None, is_in_use=False)
            return
        lag = self._moments.lag_seconds(replayed.offset, at=time.monotonic())
        one.succeed()
        if lag <= (LAG_SECONDS_MAX if replica.is_in_use else TAKEN_BACK_LAG_SECONDS_MAX):
            replica.take()
        else:
            replica.leave(TOO_FAR_BEHIND)
        self._metrics.replica_seen(replica.name, lag_seconds=lag, is_in_use=replica.is_in_use)


class _LookedAt:
    """A replica, and when it is looked at after a failure."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self._failures = 0
        self._due_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is looked at now."""
        return time.monotonic() >= self._due_at

    async def replayed(self) -> Position:
        """Return how far it has replayed the log; raise an error of the driver when it cannot be used."""
        answered = await run_in_greenlet(
            self.replica.look, places=trio.CapacityLimiter(1), wait_seconds_max=LOOK_AGAIN_SECONDS_MAX
        )
        if not answered.is_standby:
            raise suitability.ServerUnsuitable(NO_STANDBY)
        return answered.replayed

    def fail(self, reason: str) -> None:
        """Leave the replica, and wait longer before each further look."""
        self.replica.leave(reason)
        self._due_at = time.monotonic() + min(2.0**self._failures, LOOK_AGAIN_SECONDS_MAX)
        self._failures = min(self._failures + 1, 10)

    def succeed(self) -> None:
        """Look again at the next occasion."""
        self._failures, self._due_at = 0, 0.0

    def close(self) -> None:
        """Close all connections."""
        self.replica.pool.close()


class Reading:
    """What one run of a use case reads elsewhere."""

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas
        self._replica: Replica | None = None
        self._pooled: Pooled | None = None

    def connection_at(self, position: Position) -> Connection | None:
        """Return a connection to a replica that shows everything up to there; None when only the primary does."""
        replica = self._replicas.next()
        self._pooled = replica.connection_at(position) if replica is not None else None
        if replica is None or self._pooled is None:
            self._replicas.count(PRIMARY)
            return None
        self._replica = replica
        self._replicas.count(replica.name)
        return self._pooled.connection

    @property
    def has_failed(self) -> bool:
        """Whether a statement failed on the replica."""
        return self._pooled is not None and self._pooled.connection.has_failed

    def may_repeat(self, error: psycopg.Error) -> bool:
        """Return whether the primary can be asked instead after this failure on the replica.

        A write is a fault of ours, and what took too long here would take too long there.
        """
        assert self._replica is not None, "a replica failed that was not read"
        assert self._pooled is not None, "a replica failed that was not read"
        if isinstance(error, ReadOnlySqlTransaction | QueryCanceled):
            return False
        # For instance a conflict with what the replica replays, which ends the statement and not the connection.
        log.warning(
            "replica.read_failed", replica=self._replica.name, error=type(error).__name__, sqlstate=error.sqlstate
        )
        if self._pooled.connection.closed:
            self._replica.leave(f"its connection broke ({type(error).__name__})")
        return True

    def close(self) -> None:
        """Give the connection back."""
        if self._pooled is not None and self._replica is not None:
            self._replica.pool.give_back(self._pooled)
            self._pooled = self._replica = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaReport:
    """What was found: a problem, or None; `lag_seconds` is None for a replica that follows."""

    name: str
    problem: str | None
    lag_seconds: float | None = None


def report_of(url: str, primary: RawConnection) -> ReplicaReport:
    """Look at a replica, beside a connection to the primary; that it cannot be used is a problem in the report."""
    connection, name = Connection(primary), name_of(url)
    try:
        place = connection.cursor(row_factory=kwargs_row(PrimaryPlace)).execute(PLACE).fetchone()
        with closing(ReplicaDriver.open_to(url, Primary(place))) as driver:
            assert place is not None, "a server has one place"
            return _followed(name, Position.of(place.position), Connection(driver), connection)
    except (psycopg.Error, OSError) as error:
        return ReplicaReport(name=name, problem=suitability.reason(error))


def _followed(name: str, position: Position, replica: Connection, primary: Connection) -> ReplicaReport:
    give_up_at = time.monotonic() + FOLLOW_SECONDS_MAX
    while True:
        answered = Replica.ask(replica, None)
        if not answered.is_standby:
            return ReplicaReport(name=name, problem=NO_STANDBY)
        if answered.replayed.timeline != position.timeline:
            return ReplicaReport(name=name, problem=OTHER_TIMELINE)
        if answered.replayed.offset >= position.offset:
            break
        if time.monotonic() >= give_up_at:
            row = replica.execute(_LAST_REPLAYED).fetchone()
            return ReplicaReport(name=name, problem=None, lag_seconds=row[0] if row is not None else 0.0)
        time.sleep(_POLL_SECONDS)
    schemas = [one.execute(_SCHEMA).fetchone() for one in (primary, replica)]
    problem = "its schema is not that of the primary" if schemas[0] != schemas[1] else None
    return ReplicaReport(name=name, problem=problem)
