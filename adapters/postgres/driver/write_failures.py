"""Whether the last writes failed because PostgreSQL cannot write, as on a full disk, while it still answers reads.

Failed statements of real requests and actors set it. A readiness check that finds it set tries to write, and the first
write that succeeds clears it. So a server that can write is never written to by a check.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
import structlog
from psycopg.errors import DiskFull, IoError

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class WriteFailures:
    """What this process knows of its last writes."""

    are_failing: bool = False

    def note(self, error: psycopg.Error) -> None:
        """Remember a failure that concerns all writes."""
        if isinstance(error, DiskFull | IoError) and not self.are_failing:
            self.are_failing = True
            log.error("database.writes_failing", sqlstate=error.sqlstate)

    def end(self) -> None:
        """Forget the failures, because a write has succeeded."""
        if self.are_failing:
            self.are_failing = False
            log.info("database.writes_succeed_again")
