"""For what a request or an actor uses connections to the database; the adapter shares them out by it."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionUse:
    """What connections are used for.

    `is_sign_in` says that it is a sign-in or the check of a token, for which some connections are reserved, and
    `changes_organization` that its transactions lock the row of one organization. Background work is for all
    organizations, or for that of `organization_id`; `organization_slug` is that of the path of a request, which the
    caller has typed.
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
        """Return the use of background work that changes one organization, None for that of all of them."""
        return cls(is_background=True, changes_organization=True, organization_id=organization_id)


BACKGROUND_USE: Final = ConnectionUse(is_background=True)
REQUEST_USE: Final = ConnectionUse()
