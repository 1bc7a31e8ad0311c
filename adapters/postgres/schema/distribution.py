"""Distributing the logs over the workers of a cluster, each by its organization, where the database is one with Citus.

A database that has the extension `citus` is the coordinator of a cluster. As long as no other node holds shards, its
tables are local, as on any PostgreSQL. With the first worker, `gatehouse migrate` distributes the logs that are still
local. The logs of one organization lie on one node, so that statements on them reach that node alone. All other tables
stay on the coordinator. `ops/decisions/0083-logs-on-citus.md` has the reasons.

So that a log can lie there, it has no foreign key and no trigger, its unique keys begin with the organization, and a
new column gets its constraint by a statement of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, LiteralString

from adapters.postgres.driver.connection import RawConnection

LOGS: Final = (
    "audit_entries",
    "audit_seals",
    "events",
    "login_events",
    "mails",
    "scim_log_entries",
    "webhook_attempts",
    "webhook_deliveries",
)
COLUMN: Final = "organization_id"
# Unique without the organization on one server alone, for earlier versions that may run beside this one there.
_BEFORE: Final[Mapping[str, LiteralString]] = {
    "login_events": "DROP INDEX login_events_ids; CREATE INDEX login_events_ids ON login_events (id)"
}


def is_cluster(connection: RawConnection) -> bool:
    """Return whether the database has the extension of a cluster."""
    return connection.execute("SELECT FROM pg_extension WHERE extname = 'citus'").rowcount > 0


def workers(connection: RawConnection) -> int:
    """Return how many nodes may hold shards, in a cluster."""
    row = connection.execute(
        "SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'"
    ).fetchone()
    assert row is not None, "a count is one row"
    return row[0]


def distributed(connection: RawConnection) -> Sequence[str]:
    """Return the logs that lie on the workers of a cluster."""
    return _logs(connection, is_distributed=True)


def lie_elsewhere(connection: RawConnection) -> bool:
    """Return whether logs lie on the workers of a cluster, so that this database is a part of the data alone."""
    return is_cluster(connection) and bool(distributed(connection))


def undistributed(connection: RawConnection) -> Sequence[str]:
    """Return the logs that `migrate` is to distribute: none without a cluster and its workers."""
    if not is_cluster(connection) or not workers(connection):
        return ()
    return _logs(connection, is_distributed=False)


def distribute(connection: RawConnection, log: str) -> None:
    """Distribute a log with its months, and move its rows to the workers; all of it or nothing."""
    others = distributed(connection)
    with connection.transaction():
        if log in _BEFORE:
            connection.execute(_BEFORE[log])
        # So that a month needs one connection to each worker, and not one for each of its shards.
        connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        connection.execute(
            "SELECT create_distributed_table(%s, %s, colocate_with => %s)",
            (log, COLUMN, others[0] if others else "default"),
        )
        # The copied rows would stay on the disk of the coordinator, where statements no longer see them.
        connection.execute("SELECT truncate_local_data_after_distributing_table(%s)", (log,))


def _logs(connection: RawConnection, *, is_distributed: bool) -> Sequence[str]:
    found = connection.execute(
        """
        SELECT   name
        FROM     unnest(%s::text[]) AS name
        WHERE    to_regclass(name) IS NOT NULL
          -- A table that was only made known to the workers lies on the coordinator nevertheless.
          AND    EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(name) AND partmethod = 'h') = %s
        ORDER BY name
        """,
        (list(LOGS), is_distributed),
    ).fetchall()
    return [name for (name,) in found]
