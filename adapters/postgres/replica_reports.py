"""What `gatehouse doctor` finds out about a replica, over a connection of its own."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Final

import psycopg

from adapters.postgres.driver import suitability
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.driver.positions import Position
from adapters.postgres.driver.replica import Replica, name_of
from adapters.postgres.driver.replica_connection import NO_STANDBY, Primary, ReplicaDriver
from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.platform.system import PLACE
from adapters.postgres.replicas import OTHER_TIMELINE
from core.lazy_dataclasses import dataclass
from core.platform.system import PrimaryPlace

FOLLOW_SECONDS_MAX: Final = 2.0
_POLL_SECONDS: Final = 0.02
_SCHEMA: Final = "SELECT max(version) FROM schema_migrations"
_LAST_REPLAYED: Final = "SELECT coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0)::float8"


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
