"""Events in the table `events`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.events.actions import parts_of
from adapters.postgres.transaction import Aggregate
from core.events.actions import AlikeTargets
from core.events.events import EventType
from core.ids import PLATFORM
from ports.mailboxes import WorkKind

# Of one statement; few people belong to more organizations.
ROWS_MAX: Final = 16
_COLUMNS: Final = "id, organization_id, type, actor_user_id, actor_email, data, occurred_at"
_ROW: Final = "(%s, %s, %s, %s, %s, %s, %s)"
# By the number of rows: on a cluster, rows from a query would go through the coordinator, which takes so long that it
# would tell whether an account belongs to several organizations.
ADD: Final[Mapping[int, LiteralString]] = {
    rows: f"INSERT INTO events ({_COLUMNS}) VALUES " + _ROW + (", " + _ROW) * (rows - 1)
    for rows in range(1, ROWS_MAX + 1)
}
# Takes as long, and stores none.
ADD_NONE: Final = "DELETE FROM events WHERE organization_id = %(organization_id)s AND id = %(id)s"


class PostgresEvents(Aggregate):
    """The port `Events`."""

    def add(
        self,
        event: EventType,
        organization_ids: Sequence[UUID | None],
        /,
        *,
        actor_user_id: UUID | None,
        actor_email: str | None,
        data: Mapping[str, Any],
    ) -> None:
        owners = [organization_id or PLATFORM for organization_id in organization_ids]
        self._transaction.mark_due(owners or [PLATFORM])
        shared = (event.value, actor_user_id, actor_email, Jsonb(data), self._transaction.now)
        # One statement for all of them, so that their number does not tell to how many an account belongs.
        for first in range(0, len(owners), ROWS_MAX):
            rows = [
                (self._transaction.randomness.new_id(), organization_id, *shared)
                for organization_id in owners[first : first + ROWS_MAX]
            ]
            self._connection.execute_later(ADD[len(rows)], [value for row in rows for value in row])
        if not owners:
            none = {"id": self._transaction.randomness.new_id(), "organization_id": PLATFORM}
            self._connection.execute_later(ADD_NONE, none)
        self._transaction.made_due.add(WorkKind.EVENTS)

    def add_of_users(
        self,
        event: EventType,
        organization_id: UUID,
        happenings: Sequence[tuple[UUID, str, Mapping[str, Any]]],
        /,
    ) -> None:
        for part in self._connection.in_parts(happenings):
            self._transaction.mark_due([organization_id])
            self._connection.execute_later(
                """
                INSERT INTO events (id, type, organization_id, actor_user_id, actor_email, data, occurred_at)
                SELECT happening.id, %s, %s, happening.user_id, happening.email, happening.data, %s
                FROM   unnest(%s::uuid[], %s::uuid[], %s::text[], %s::jsonb[]) AS happening (id, user_id, email, data)
                """,
                (
                    event.value,
                    organization_id,
                    self._transaction.now,
                    [self._transaction.randomness.new_id() for _ in part],
                    [user_id for user_id, _, _ in part],
                    [email for _, email, _ in part],
                    [Jsonb(data) for _, _, data in part],
                ),
            )
        self._transaction.made_due.add(WorkKind.EVENTS)

    def add_each(self, event: EventType, happenings: Sequence[tuple[UUID, Mapping[str, Any]]], /) -> None:
        self._transaction.mark_due(organization_id for organization_id, _ in happenings)
        self._connection.execute_later(
            """
            INSERT INTO events (id, type, organization_id, data, occurred_at)
            SELECT happening.id, %s, happening.organization_id, happening.data, %s
            FROM   unnest(%s::uuid[], %s::uuid[], %s::jsonb[]) AS happening (id, organization_id, data)
            """,
            (
                event.value,
                self._transaction.now,
                [self._transaction.randomness.new_id() for _ in happenings],
                [organization_id for organization_id, _ in happenings],
                [Jsonb(data) for _, data in happenings],
            ),
        )
        self._transaction.made_due.add(WorkKind.EVENTS)

    def add_alike(self, event: EventType, target_name: str, alike: Sequence[AlikeTargets], /) -> None:
        for part in parts_of(self._connection, alike):
            self._transaction.mark_due(part.organization_ids)
            self._connection.execute_later(
                """
                INSERT INTO events (id, type, organization_id, data, occurred_at)
                SELECT happening.id, %s, happening.organization_id,
                       jsonb_build_object(%s::text, happening.target_id) || kind.details, %s
                FROM   unnest(%s::uuid[], %s::uuid[], %s::uuid[], %s::integer[])
                       AS happening (id, organization_id, target_id, kind)
                JOIN   unnest(%s::jsonb[]) WITH ORDINALITY AS kind (details, number) ON kind.number = happening.kind
                """,
                (
                    event.value,
                    target_name,
                    self._transaction.now,
                    [self._transaction.randomness.new_id() for _ in part.organization_ids],
                    part.organization_ids,
                    part.target_ids,
                    part.kinds,
                    part.details,
                ),
            )
        self._transaction.made_due.add(WorkKind.EVENTS)
