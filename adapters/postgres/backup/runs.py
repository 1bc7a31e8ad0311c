"""When a backup was last made and when one was last tried: rows of `recovery_runs`, which the metrics show."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import psycopg
from psycopg.errors import UndefinedTable

from core.platform.backups import RecoveryRun

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import RawConnection


def record(connection: RawConnection, run: RecoveryRun, *, at: datetime) -> str | None:
    """Keep the time of a success, unless a later one is kept; return why that could not be done, None when it was.

    The role may be one that only reads, and the server a standby: what has succeeded has succeeded.
    """
    try:
        connection.execute(
            """
            INSERT INTO recovery_runs AS kept (kind, succeeded_at)
            VALUES (%s, %s)
            ON CONFLICT (kind) DO UPDATE
            SET succeeded_at = greatest(kept.succeeded_at, excluded.succeeded_at)
            """,
            (run.value, at),
        )
    except UndefinedTable:
        # An earlier version, which has no alert on it.
        return None
    except psycopg.Error as error:
        return str(error).splitlines()[0]
    return None
