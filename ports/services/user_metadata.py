"""Storage of what services note about their users."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from core.services.user_metadata import HeldUser, ServiceUser


class ServiceUserMetadata(Protocol):
    """What services note about their users: those with a link, and people who have signed in for a customer."""

    def find(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> ServiceUser | None:
        """Return the user of a service whom this id means to its organization; None for any other account."""
        ...

    def hold(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> HeldUser | None:
        """Do what `find` does, and let the user remain one until this transaction ends."""
        ...

    def lock(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Mapping[str, Any]:
        """Return what is noted about a user who is held, empty for nothing, and let no other transaction change it."""
        ...

    def save(self, organization_id: UUID, service_id: UUID, user_id: UUID, metadata: Mapping[str, Any]) -> None:
        """Store what is noted about a user who is locked."""
        ...
