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

_COLUMNS: Final = "id, type, organization_id, actor_user_id, actor_email, data, occurred_at"
# On a cluster, one row goes to its node with less work than the rows of a query.
ADD: Final = f"""
    INSERT INTO events ({_COLUMNS})
    VALUES (%(id)s, %(type)s, %(organization_id)s, %(actor_user_id)s, %(actor_email)s, %(data)s, %(now)s)
"""
ADD_TO_EACH: Final = f"""
    INSERT INTO events ({_COLUMNS})
    SELECT event.id, %(type)s, event.organization_id, %(actor_user_id)s, %(actor_email)s, %(data)s, %(now)s
    FROM   unnest(%(ids)s::uuid[], %(organization_ids)s::uuid[]) AS event (id, organization_id)
"""


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
        values = {
            "type": event.value,
            "actor_user_id": actor_user_id,
            "actor_email": actor_email,
            "data": Jsonb(data),
            "now": self._transaction.now,
        }
        ids = [self._transaction.randomness.new_id() for _ in owners]
        # One statement in any case: it tells neither to how many organizations a person belongs, nor who exists.
        if len(owners) == 1:
            self._connection.execute_later(ADD, values | {"id": ids[0], "organization_id": owners[0]})
        else:
            self._connection.execute_later(ADD_TO_EACH, values | {"ids": ids, "organization_ids": owners})
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
