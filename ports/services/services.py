"""Storage of services and of their links to end users."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.organizations import Organization
from core.services.management import ServicesPage, Usage
from core.services.services import Service, ServiceType


class Services(Protocol):
    """The services of organizations, and the users who sign in to them."""

    def by_slug(self, organization_id: UUID, slug: str) -> Service | None:
        """Return a service of an organization; None when there is none with that slug."""
        ...

    def by_id(self, organization_id: UUID, service_id: UUID) -> Service | None:
        """Return a service of an organization; None when there is none with that id."""
        ...

    def ids_by_slug(self, organization_id: UUID, slugs: Sequence[str]) -> Mapping[str, UUID]:
        """Return the ids of the services of an organization with these slugs, by slug, in the order of the slugs."""
        ...

    def usage(self, organization: Organization) -> Usage:
        """Return the number of services that the organization has, and its limit."""
        ...

    def page(
        self, organization: Organization, *, service_type: ServiceType | None, limit: int | None, offset: int
    ) -> ServicesPage:
        """Return services with their counts, the oldest first, and the usage; in one statement."""
        ...

    def names(self, organization_id: UUID, *, limit: int) -> Mapping[str, str]:
        """Return the names of the services of an organization by their slugs, in the order of the names."""
        ...

    def unknown_scope(self, organization_id: UUID, names: Sequence[str]) -> str | None:
        """Return the first of these scopes that no service of an organization has; None without one."""
        ...

    def add(self, service: Service, *, client_secret_hash: bytes | None) -> bool:
        """Store a new service; False when the slug is taken."""
        ...

    def save(self, service: Service) -> None:
        """Store the new state of a service; its slug and client id do not change."""
        ...

    def claim_audiences(self, service: Service) -> str | None:
        """Reserve the audiences of a service for it alone; return one that another service has, else None."""
        ...

    def set_client_secret(
        self, service: Service, client_secret_hash: bytes | None, *, previous_until: datetime | None
    ) -> None:
        """Replace the stored hash of the secret; None removes it. The old secret stays valid until `previous_until`."""
        ...

    def lock(self, service: Service) -> None:
        """Lock a service until this transaction ends, so that no new row refers to it."""
        ...

    def remove(self, service: Service) -> None:
        """Delete a locked service that has no live subscriptions, with everything that belongs to it."""
        ...

    def link_user(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Record that a user signed in to a service: the times of the first and the last sign-in.

        A link that is made or used while its user is a member counts from then on as given with the membership.
        """
        ...

    def note_visit(self, service: Service, user_id: UUID, *, at: datetime) -> None:
        """Record the sign-in of a user whose link is locked and has been used before, as `Place` says."""
        ...
