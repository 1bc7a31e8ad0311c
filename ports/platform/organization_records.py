"""The organizations of the platform as its console shows them."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.platform.organization_records import ListedOrganization, OrganizationFilter, PlatformOrganizationRecord
from core.positions import Position


class OrganizationRecords(Protocol):
    """Reads of organizations; none of them reads accounts, sign-ins or audit entries whole."""

    def by_domain_or_owner(self, text: str, *, hides_owners: bool, limit: int) -> Sequence[UUID]:
        """Return organizations with this text in a domain, or whose owner has this address.

        Domains are found by three characters and more. With `hides_owners` no platform owner is found.
        """
        ...

    def page(
        self, wanted: OrganizationFilter, matches: Sequence[UUID], *, after: Position | None, limit: int
    ) -> Sequence[ListedOrganization]:
        """List organizations after a position, the newest first; None is the begin of the list.

        With a text to search for, these have it in their name or slug, or are among `matches`.
        """
        ...

    def count(self, wanted: OrganizationFilter, matches: Sequence[UUID], *, counted_max: int) -> int:
        """Count the same organizations, to a maximum."""
        ...

    def detail(self, organization_id: UUID, *, domains_max: int, counted_max: int) -> PlatformOrganizationRecord | None:
        """Return an organization with at most so many of its domains; None when there is none with this id."""
        ...

    def names(self, organization_ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """Return the names of those of these organizations that exist."""
        ...

    def waiting(self, *, limit: int, counted_max: int) -> tuple[Sequence[ListedOrganization], int]:
        """List pending organizations, the oldest first, and count them to a maximum."""
        ...
