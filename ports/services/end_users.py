"""Reading the end users of an organization."""

from typing import Protocol
from uuid import UUID

from core.services.end_users import EndUserDetails, EndUsersPage


class EndUsers(Protocol):
    """The users who have signed in to a service of an organization; other users are never returned."""

    def page(
        self, organization_id: UUID, *, part: str, service_id: UUID | None, limit: int, offset: int
    ) -> EndUsersPage:
        """Return the end users whose address contains `part`, of the given service or of any, in one statement."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> EndUserDetails | None:
        """Return an end user in detail, in one statement; None when the organization has no such end user."""
        ...

    def email_of(self, organization_id: UUID, user_id: UUID) -> str | None:
        """Return the address of an end user; None when the organization has no such end user."""
        ...
