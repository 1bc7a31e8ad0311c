"""Storage of services and of their links to end users."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.services import Service


class Services(Protocol):
    """The services of organizations, and the users who sign in to them."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        """Return a service of an organization; None when there is none with that slug."""
        ...

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Record that a user signed in to a service: the times of the first and the last sign-in."""
        ...

    def unlink_user(self, user_id: UUID, *, linked_since: datetime) -> None:
        """Delete the links to services, of any organization, to which a user has first signed in since then."""
        ...
