"""Storage of the metadata that services keep about their users."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from core.services.user_metadata import HeldUser, ServiceUser


class ServiceUserMetadata(Protocol):
    """The metadata of users with a link to a service, and of people who have signed in to it for a customer."""

    def find(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> ServiceUser | None:
        """Return the user of a service that its organization knows by this id; None for any other account."""
        ...

    def hold(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> HeldUser | None:
        """Do what `find` does, and keep the account a user of the service until this transaction ends."""
        ...

    def lock(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Mapping[str, Any]:
        """Return the metadata of a held user, possibly empty, and let no other transaction change them."""
        ...

    def save(self, organization_id: UUID, service_id: UUID, user_id: UUID, metadata: Mapping[str, Any]) -> None:
        """Store the metadata of a locked user."""
        ...
