"""Which addresses of users an organization knows, in `users` and what relates them to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since

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
