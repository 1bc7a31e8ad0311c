"""Events in the table `events`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.transaction import Aggregate
from core.events.events import EventType
from core.ids import PLATFORM
from ports.doorbells import Bell

ADD_ONE: Final = """
    INSERT INTO events (id, type, organization_id, actor_user_id, actor_email, data, occurred_at)
    VALUES (%(id)s, %(type)s, %(organization_id)s, %(actor_user_id)s, %(actor_email)s, %(data)s, %(now)s)
"""
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
        shared = {
            "type": event.value,
            "actor_user_id": actor_user_id,
            "actor_email": actor_email,
            "data": Jsonb(data),
            "now": self._transaction.now,
        }
        # A statement for each: a cluster copies the rows of a query by way of the coordinator, which takes so long that
        # it would tell whether an account belongs to several.
        for organization_id in owners:
            row = {"id": self._transaction.randomness.new_id(), "organization_id": organization_id}
            self._connection.execute_later(ADD_ONE, shared | row)
        if not owners:
            none = {"id": self._transaction.randomness.new_id(), "organization_id": PLATFORM}
            self._connection.execute_later(ADD_NONE, none)
        self._transaction.bells.add(Bell.EVENTS)

    def add_of_users(
        self,
        event: EventType,
        organization_id: UUID,
        happenings: Sequence[tuple[UUID, str, Mapping[str, Any]]],
        /,
    ) -> None:
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
                [self._transaction.randomness.new_id() for _ in happenings],
                [user_id for user_id, _, _ in happenings],
                [email for _, email, _ in happenings],
                [Jsonb(data) for _, _, data in happenings],
            ),
        )
        self._transaction.bells.add(Bell.EVENTS)

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
        self._transaction.bells.add(Bell.EVENTS)
