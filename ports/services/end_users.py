"""What the core asks of the stored end users of an organization."""

from typing import Protocol
from uuid import UUID

from core.services.end_users import EndUserDetail, EndUsersPage


class EndUsers(Protocol):
    """Who signs in to the services of an organization; nobody else is found."""

    def page(
        self, organization_id: UUID, *, part: str, service_id: UUID | None, limit: int, offset: int
    ) -> EndUsersPage:
        """List those with this part in their address, of this service if it is named, in one statement."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> EndUserDetail | None:
        """Find one with everything that the organization sees, in one statement."""
        ...

    def email_of(self, organization_id: UUID, user_id: UUID) -> str | None:
        """Give the address of one."""
        ...
