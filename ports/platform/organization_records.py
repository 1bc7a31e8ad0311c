"""Reading the organizations of the platform for its console."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.platform.organization_records import (
    ListedOrganization,
    Matches,
    OrganizationFilter,
    PlatformOrganizationRecord,
    ServedCustomers,
    UsedProduct,
)
from core.positions import Position


class OrganizationRecords(Protocol):
    """Reads of organizations; none of them reads accounts, sign-ins or audit entries whole."""

    def matches(self, text: str, *, hides_owners: bool) -> Matches:
        """Return organizations with a text in their names or domains, or whose owner has this address.

        With `hides_owners` no platform owner is found. Domains are searched only for three or more characters that few
        domains contain.
        """
        ...

    def page(
        self, wanted: OrganizationFilter, matches: Matches, *, after: Position | None, limit: int
    ) -> Sequence[ListedOrganization]:
        """List organizations after a position, or from the beginning with None, the newest first.

        With a text to search for, these are among `matches`, or have it in their name or slug unless `has_all`.
        """
        ...

    def count(self, wanted: OrganizationFilter, matches: Matches, *, counted_max: int) -> int:
        """Count the same organizations, up to a maximum."""
        ...

    def detail(self, organization_id: UUID, *, domains_max: int, counted_max: int) -> PlatformOrganizationRecord | None:
        """Return an organization with at most `domains_max` of its domains; None when there is none with this id.

        Its products and the customers of its services are read apart.
        """
        ...

    def products(self, organization_id: UUID, *, limit: int) -> Sequence[UsedProduct]:
        """Return the products that an organization uses, the newest first, then those that are offered to it."""
        ...

    def served(self, organization_id: UUID, *, limit: int, counted_max: int) -> Sequence[ServedCustomers]:
        """Return the services of an organization that may have customers, the oldest first, with their numbers."""
        ...

    def names(self, organization_ids: Sequence[UUID]) -> Mapping[UUID, tuple[str, str]]:
        """Return the names and slugs of these organizations, as far as they exist."""
        ...

    def waiting(self, *, limit: int) -> Sequence[ListedOrganization]:
        """List pending organizations, the oldest first."""
        ...
