"""The feed of events in the table `events`, what receivers get of events, and which addresses an organization knows.

The payloads are expressions over the columns of `events`, not functions of the database: a function that takes a row of
a table is not found on the nodes of a cluster, where the rows belong to its shards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.events.events import EventType
from core.ids import first_id_since
from core.webhooks.events import FeedItem


def _payload(event_type: LiteralString, data: LiteralString) -> LiteralString:
    # Receivers get the keys always in this order.
    return f"""
        json_build_object(
            'id', e.id,
            'event', {event_type},
            'timestamp', to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'organization_id', nullif(e.organization_id, '00000000-0000-0000-0000-000000000000'),
            'actor_user_id', e.actor_user_id,
            'actor_email', e.actor_email,
            'data', {data})
    """


EVENT_PAYLOAD: Final = _payload("e.type", "e.data")


def delivery_payload(event_type: LiteralString) -> LiteralString:
    """Return the payload of a delivery of this type: of the event, or the sample of a test that is sent as another."""
    return _payload(event_type, f"CASE WHEN e.type = {event_type} THEN e.data ELSE e.data -> 'sample' END")


LAST_POSITION: Final = """
    SELECT coalesce((SELECT last_position FROM event_positions WHERE organization_id = %s),
                    -- Before the first one of its own.
                    (SELECT last_position FROM event_sequencing))
"""
PAGE: Final = f"""
    SELECT   position, {EVENT_PAYLOAD} AS payload
    FROM     events e
    WHERE    organization_id = %(organization_id)s AND id >= %(first_id)s
    AND      position > %(after)s
    AND      position <= %(last_position)s
    AND      (%(types)s::text[] IS NULL OR type = ANY (%(types)s))
    ORDER BY position
    LIMIT    %(limit)s
"""
LAST_READ: Final = """
    SELECT   position
    FROM     events
    WHERE    organization_id = %(organization_id)s AND id >= %(first_id)s
    AND      position > 0 AND position <= %(position)s
    AND      occurred_at <= %(read_at)s
    ORDER BY position DESC
    LIMIT    1
"""


class PostgresEventFeed(Aggregate):
    """The port `EventFeed`."""

    def page(
        self,
        organization_id: UUID,
        *,
        after: int,
        types: Sequence[EventType] | None,
        limit: int,
        kept_since: datetime,
    ) -> tuple[Sequence[FeedItem], int]:
        # The last position first: events that get theirs between the two statements are read with the next cursor.
        last_position = self._value(LAST_POSITION, (organization_id,))
        rows = self._rows(
            PAGE,
            {
                "organization_id": organization_id,
                "first_id": first_id_since(kept_since),
                "after": after,
                "last_position": last_position,
                "types": [event.value for event in types] if types is not None else None,
                "limit": limit,
            },
            # A prepared statement would be planned without the limit, for a tenth of the organization's events.
            prepare=False,
        )
        return [FeedItem(**row) for row in rows], last_position

    def last_read(self, organization_id: UUID, *, position: int, read_at: datetime, kept_since: datetime) -> int:
        found = self._values(
            LAST_READ,
            {
                "organization_id": organization_id,
                "first_id": first_id_since(kept_since),
                "position": position,
                "read_at": read_at,
            },
            prepare=False,
        )
        return found[0] if found else 0


# A former member has the address that the organization knows, unless it has changed since then: `known_since` is when.
# A directory changes it and keeps the proof.
OF_USERS: Final = """
    SELECT id, name, known_since
    FROM   (SELECT u.id, u.email AS name,
                   CASE WHEN EXISTS (SELECT FROM memberships m
                                     WHERE  m.organization_id = %(organization_id)s AND m.user_id = u.id)
                        OR   EXISTS (SELECT FROM service_users l
                                     WHERE  l.organization_id = %(organization_id)s AND l.user_id = u.id)
                        THEN NULL
                        ELSE greatest(coalesce(u.email_verified_at, 'infinity'), u.email_changed_at) END AS known_since
            FROM   users u
            WHERE  u.id = ANY (%(ids)s) AND (%(has_anonymized)s OR u.anonymized_at IS NULL)) AS of_users
    WHERE  known_since IS DISTINCT FROM 'infinity'
"""
_REMOVED: Final = """
    SELECT   target_id, max(created_at) AS removed_at
    FROM     audit_entries
    WHERE    organization_id = %(organization_id)s AND target_type = 'user' AND target_id = ANY (%(ids)s)
    AND      action = 'user.removed' AND id >= %(first_id)s
    GROUP BY target_id
"""


class PostgresKnownAddresses(Aggregate):
    """The port `KnownAddresses`."""

    def of_each(self, user_ids: Mapping[UUID, Collection[UUID]], /) -> Mapping[UUID, Mapping[UUID, str]]:
        # All statements go out before the first answer is read.
        found = {
            organization_id: self._defer_rows(
                OF_USERS, {"organization_id": organization_id, "ids": list(ids), "has_anonymized": False}
            )
            for organization_id, ids in user_ids.items()
        }
        return {organization_id: self.known(organization_id, rows()) for organization_id, rows in found.items()}

    def known(self, organization_id: UUID, rows: Collection[Mapping[str, Any]]) -> Mapping[UUID, str]:
        """Return the names of rows, without former members that the organization has not removed since."""
        former = {row["id"]: row["known_since"] for row in rows if row["known_since"] is not None}
        removed = self._removed(organization_id, former)
        return {row["id"]: row["name"] for row in rows if row["known_since"] is None or row["id"] in removed}

    def _removed(self, organization_id: UUID, known_since: Mapping[UUID, datetime]) -> set[UUID]:
        """Return the people that the organization has removed since the time of each."""
        if not known_since:
            return set()
        rows = self._rows(
            _REMOVED,
            {
                "organization_id": organization_id,
                "ids": [str(user_id) for user_id in known_since],
                "first_id": first_id_since(min(known_since.values())),
            },
            # Planned for these months.
            prepare=False,
        )
        removed = {UUID(row["target_id"]): row["removed_at"] for row in rows}
        # A removal at the very time was by the change of the address: what hung on the one before ended with it.
        return {user_id for user_id, at in removed.items() if at > known_since[user_id]}
