"""What the core asks of the stored services and their end users."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.services import Service


class Services(Protocol):
    """The applications of organizations, and who signs in with them."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        """Find a service of an organization."""
        ...

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Remember that a person signed in with a service: the first time, and the last."""
        ...

    def unlink_user(self, user_id: UUID, *, linked_since: datetime) -> None:
        """Forget with which services a person has signed in for the first time since a moment, in any organization."""
        ...
