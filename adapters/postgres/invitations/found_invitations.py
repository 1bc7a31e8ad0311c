"""Invitations in the console, in the order of the index of their organization or of their status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.invitations.invitations import SERVICES
from adapters.postgres.transaction import Aggregate
from core.invitations.found_invitations import ListedInvitation
from core.invitations.invitations import InvitationStatus
from core.positions import Position

_FILTERED: Final = """
    FROM   invitations i
    WHERE  i.organization_id = %(organization_id)s AND strpos(i.email, %(part)s) > 0
"""
_OF_STATUS: Final = "AND i.status = %(status)s"
_FROM_THERE: Final = "AND (i.created_at, i.id) < (%(at)s, %(id)s)"
_ORDERED: Final = "ORDER BY i.created_at DESC, i.id DESC LIMIT %(limit)s"
# What is past its expiry is shown as expired, also before it is stored as that.
_SHOWN: Final = f"""
    SELECT    i.id, i.email, i.role, i.created_at, i.expires_at, i.message, {SERVICES}, u.email AS inviter_email,
              CASE WHEN i.status = 'pending' AND i.expires_at <= %(now)s THEN 'expired' ELSE i.status END AS status
    FROM      page i
    LEFT JOIN users u ON u.id = i.invited_by
    ORDER BY  i.created_at DESC, i.id DESC
"""


class PostgresFoundInvitations(Aggregate):
    """The port `FoundInvitations`."""

    def page(
        self, organization_id: UUID, *, part: str, status: InvitationStatus | None, after: Position | None, limit: int
    ) -> Sequence[ListedInvitation]:
        # Statements of their own, because one plan for all of them would use no index well.
        of_status = _OF_STATUS if status is not None else ""
        from_there = _FROM_THERE if after is not None else ""
        return self._all(
            _listed,
            f"WITH page AS MATERIALIZED (SELECT i.* {_FILTERED} {of_status} {from_there} {_ORDERED}) {_SHOWN}",
            {
                "organization_id": organization_id,
                "part": part,
                "status": status,
                "at": after.at if after is not None else None,
                "id": after.id if after is not None else None,
                "limit": limit,
                "now": self._transaction.now,
            },
        )

    def count(self, organization_id: UUID, *, part: str, status: InvitationStatus | None, counted_max: int) -> int:
        of_status = _OF_STATUS if status is not None else ""
        return self._value(
            f"SELECT count(*) FROM (SELECT {_FILTERED} {of_status} LIMIT %(counted_max)s) AS counted",
            {"organization_id": organization_id, "part": part, "status": status, "counted_max": counted_max},
        )


def _listed(*, status: str, **columns: Any) -> ListedInvitation:
    return ListedInvitation(status=InvitationStatus(status), **columns)
