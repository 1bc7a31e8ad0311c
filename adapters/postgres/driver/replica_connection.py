"""The driver's connection to a replica: read-only, and refused unless it is a standby of our primary."""

from __future__ import annotations

import time
from typing import Final, Self

import psycopg
import structlog

from adapters.postgres.driver import suitability
from adapters.postgres.driver.suitability import ServerUnsuitable
from adapters.postgres.driver.timed_connection import CONNECT_SECONDS_MAX, TimedConnection
from core.lazy_dataclasses import dataclass
from core.platform.system import PrimaryPlace

_WHO: Final = "SELECT pg_is_in_recovery(), system_identifier, current_database() FROM pg_control_system()"

NO_STANDBY: Final = "it is no standby, because it was promoted, or is the primary itself"
ELSEWHERE: Final = "it is no standby of the database in GATEHOUSE_DATABASE_URL"

log = structlog.get_logger(__name__)


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
