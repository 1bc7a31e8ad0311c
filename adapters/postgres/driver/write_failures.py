"""Whether the last writes failed because PostgreSQL cannot write, as on a full disk, while it still answers reads.

Failed statements of real requests and actors set it. A readiness check that finds it set tries to write, and the first
write that succeeds clears it. So a server that can write is never written to by a check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import psycopg
import structlog
from psycopg.errors import DiskFull, IoError

# An existing table may have room in its file even when the disk is full. This one gets a file of its own.
PROBE: Final = """
    CREATE TEMPORARY TABLE written_by_readiness ON COMMIT DROP AS
    SELECT repeat('x', 1000) AS text FROM generate_series(1, 200)
"""
CANNOT_WRITE: Final = (DiskFull, IoError)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class WriteFailures:
    """What this process knows of its last writes."""

    are_failing: bool = False

    def note(self, error: psycopg.Error) -> None:
        """Remember a failure that concerns all writes."""
        if isinstance(error, CANNOT_WRITE) and not self.are_failing:
            self.are_failing = True
            log.error("database.writes_failing", sqlstate=error.sqlstate)

    def end(self) -> None:
        """Forget the failures, because a write has succeeded."""
        if self.are_failing:
            self.are_failing = False
            log.info("database.writes_succeed_again")


def problem_of_writing(connection: psycopg.Connection[Any]) -> str | None:
    """Return why a server that answers does not write, if a full disk or a broken one is the reason; else None."""
    try:
        connection.execute(PROBE, prepare=False)
    except DiskFull:
        return "PostgreSQL answers, but does not write: its disk is full"
    except IoError:
        return "PostgreSQL answers, but does not write: its disk fails"
    except psycopg.Error:
        # Such as a role that may make no temporary table, which says nothing of the disk.
        return None
    return None
