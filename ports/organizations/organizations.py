"""What the core asks of the stored organizations."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.management import OrganizationDetail, OrganizationOfMine
from core.organizations.organizations import Organization


class Organizations(Protocol):
    """Organizations. What only platform owners ask of them is in `platform_organizations.py`."""

    def by_slug(self, slug: str) -> Organization | None:
        """Find an organization."""
        ...

    def lock(self, organization_id: UUID) -> Organization | None:
        """Find an organization, and let nobody else lock or change it before this transaction ends.

        What is counted of it afterwards (members, services) counts everybody who had the lock before.
        """
        ...

    def add(self, organization: Organization) -> bool:
        """Store a new organization; False when the slug is taken, also by a racer."""
        ...

    def save(self, organization: Organization) -> None:
        """Store the new state of an organization that is locked; its slug stays what it is."""
        ...

    def delete(self, organization_id: UUID) -> None:
        """Delete an organization that is locked, and everything that belongs to it."""
        ...

    def count_pending_of(self, owner_user_id: UUID) -> int:
        """Count the organizations of an owner that wait for approval."""
        ...

    def of_member(self, user_id: UUID) -> Sequence[OrganizationOfMine]:
        """List the organizations that a person is a member of, by their slugs."""
        ...

    def detail(self, organization: Organization) -> OrganizationDetail:
        """Add to an organization what is counted of it, and its tier."""
        ...
