"""What a request or an actor uses database connections for; the adapter shares the connections out accordingly.

A request is a sign-in when its path is below one of `SIGN_IN_ROUTES` (`entrypoints/web/serving/routes.py`). Background
work for one organization names it, `on_behalf_of(…, use=ConnectionUse.background_of(organization_id))`, and uses its
share (ops/decisions/0050-shares-of-connections.md).
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionUse:
    """What connections are used for.

    `is_sign_in`: it is a sign-in or the check of a token, for which some connections are reserved.
    `changes_organization`: its transactions lock the row of one organization. Background work is for the organization
    `organization_id`, or for all. `organization_slug` comes from the path of a request: the caller has typed it.
    """

    is_background: bool = False
    is_sign_in: bool = False
    changes_organization: bool = False
    organization_id: UUID | None = None
    organization_slug: str | None = None

    def at(self, organization_slug: str) -> ConnectionUse:
        """Return the same use for a request whose path names this organization."""
        return ConnectionUse(
            is_sign_in=self.is_sign_in,
            changes_organization=self.changes_organization,
            organization_slug=organization_slug,
        )

    @classmethod
    def background_of(cls, organization_id: UUID | None) -> ConnectionUse:
        """Return the use of background work that changes one organization; None means all organizations."""
        return cls(is_background=True, changes_organization=True, organization_id=organization_id)


BACKGROUND_USE: Final = ConnectionUse(is_background=True)
REQUEST_USE: Final = ConnectionUse()
