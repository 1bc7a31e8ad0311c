"""What a database has had since a moment, and what a restore to that moment therefore loses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg.errors import LockNotAvailable
from psycopg.sql import SQL, Identifier

from adapters.postgres.backup.dumping import holds, stop_behind
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import RawConnection

# What each kind is called, and the tables of its rows; an older schema may not have one.
KINDS: Final = (
    ("accounts", ("users",)),
    ("organizations", ("organizations",)),
    ("memberships", ("memberships",)),
    ("services", ("services",)),
    ("sessions", ("sessions",)),
    ("entries of audit logs", ("audit_entries", "platform_audit_entries")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """How many rows of a kind were made since the moment, and when the newest was; None when there are none."""

    kind: str
    count: int
    newest_at: datetime | None

    def __str__(self) -> str:
        if self.newest_at is None:
            return f"{self.kind}: none"
        return f"{self.kind}: {self.count:,}, the newest of {self.newest_at:%Y-%m-%d %H:%M:%S} UTC"


def described(connection: RawConnection, moment: datetime) -> list[str]:
    """Return the lines that say what is lost; the connection is in a transaction, and stays usable in it."""
    lines = [
        f"The backup is of {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC. A restore takes away everything that was"
        " made or changed in this database since then. Made since then were:"
    ]
    try:
        with connection.transaction():
            lines += [f"  {loss}" for loss in since(connection, moment)]
    except psycopg.Error as error:
        if isinstance(error, LockNotAvailable) or connection.closed or stop_behind(error) is not None:
            raise
        # A damaged database, of all, must be replaceable.
        lines.append(f"  what it has could not be counted: {str(error).splitlines()[0]}")
    return lines


def since(connection: RawConnection, moment: datetime) -> list[Loss]:
    """Count the rows of each kind that were made since."""
    return [_loss(connection, kind, tables, moment) for kind, tables in KINDS]


def _loss(connection: RawConnection, kind: str, tables: tuple[str, ...], moment: datetime) -> Loss:
    count, newest_at = 0, None
    for table in tables:
        if not holds(connection, table, "created_at"):
            continue
        statement = SQL("SELECT count(*), max(created_at) AT TIME ZONE 'UTC' FROM {} WHERE created_at > {}")
        row = connection.execute(statement.format(Identifier(table), moment)).fetchone()
        assert row is not None, "an aggregate returns one row"
        count += row[0]
        newest_at = max(filter(None, (newest_at, row[1])), default=None)
    return Loss(kind=kind, count=count, newest_at=newest_at)
