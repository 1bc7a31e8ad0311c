"""Who did what an audit log says: the accounts are read by their ids, after the entries.

The log is distributed by organization on a cluster and accounts are not, so one statement does not read both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from adapters.postgres.driver.connection import Connection
from core.audit.audit_log import AuditLogActor

ACTORS: Final = "SELECT id, email, is_platform_owner FROM users WHERE id = ANY (%s)"


def with_actors(connection: Connection, rows: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return entries with their `actor` instead of the `actor_user_id`."""
    ids = {row["actor_user_id"] for row in rows} - {None}
    found = connection.execute(ACTORS, (list(ids),)).fetchall() if ids else []
    users = {user_id: (email, is_platform_owner) for user_id, email, is_platform_owner in found}
    return [_with_actor(row, users.get(row["actor_user_id"], (None, None))) for row in rows]


def _with_actor(row: dict[str, Any], user: tuple[str | None, bool | None]) -> dict[str, Any]:
    columns = {name: value for name, value in row.items() if name != "actor_user_id"}
    return columns | {"actor": AuditLogActor.of(row["actor_user_id"], *user, row["details"])}
