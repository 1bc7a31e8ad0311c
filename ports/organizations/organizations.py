"""Storage of organizations."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.internal_places import InternalPlace
from core.organizations.management import OrganizationDetails, OrganizationMembership
from core.organizations.organizations import Organization


class Organizations(Protocol):
    """Organizations. Queries for platform owners are in `ports/platform/organizations.py`."""

    def by_slug(self, slug: str) -> Organization | None:
        """Return an organization; None when there is none with that slug."""
        ...

    def defer_by_slug(self, slug: str) -> Deferred[Organization | None]:
        """Defer `by_slug`."""
        ...

    def by_id(self, organization_id: UUID) -> Organization | None:
        """Return an organization; None when there is none."""
        ...

    def lock(self, organization_id: UUID) -> Organization | None:
        """Lock an organization until this transaction ends, and return it; None when it does not exist.

        Counts after it (members, services) include the changes of the transactions that had the lock before.
        """
        ...

    def lock_later(self, organization_id: UUID) -> None:
        """Lock an organization with the next statement, which reads behind the lock."""
        ...

    def add(self, organization: Organization, *, is_unclaimed: bool = False) -> bool:
        """Store a new organization; False when the slug is taken, also by a concurrent transaction.

        `is_unclaimed` is one that a vendor has made for a customer, and that no person owns yet.
        """
        ...

    def add_internal(self, organization: Organization, customer_id: UUID) -> None:
        """Store the internal organization of a customer record, open exactly while the customer may use the service."""
        ...

    def of_connection(self, connection_id: UUID, *, is_active: bool = True) -> Organization | None:
        """Return the active organization of an enabled connection, also an internal one; None otherwise.

        With `is_active=False` the organization may be in any state.
        """
        ...

    def internal_place(self, organization_id: UUID) -> InternalPlace | None:
        """Return the customer of an internal organization; None for any other one, and when the customer has ended."""
        ...

    def lock_internal(self, customer_id: UUID) -> Organization | None:
        """Lock the internal organization of a customer record, and return it; None when there is none yet."""
        ...

    def find_internal(self, customer_id: UUID) -> Organization | None:
        """Return the internal organization of a customer record; None when there is none yet."""
        ...

    def save(self, organization: Organization) -> None:
        """Store the new state of a locked organization; its slug does not change."""
        ...

    def delete(self, organization_id: UUID) -> None:
        """Delete a locked organization and everything that belongs to it."""
        ...

    def count_pending(self, organization_ids: Sequence[UUID]) -> int:
        """Count the pending ones of these organizations."""
        ...

    def of_member(self, user_id: UUID) -> Sequence[OrganizationMembership]:
        """List the organizations of which a user is a member who is not suspended, by slug."""
        ...

    def search_of_member(
        self, user_id: UUID, *, only: UUID | None, part: str, after: str, limit: int, counted_max: int
    ) -> tuple[Sequence[OrganizationMembership], int]:
        """List organizations of a member in the order of their slugs, and count them up to a maximum.

        `only` restricts both to one organization, `part` to names and slugs that contain it, in lower case; the list
        begins after the slug `after`.
        """
        ...

    def detail(self, organization: Organization) -> OrganizationDetails:
        """Return the organization with its tier and its numbers of members and services."""
        ...
