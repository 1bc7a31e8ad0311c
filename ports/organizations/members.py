"""What the core asks of the stored memberships."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.members import Member, MembersPage
from core.organizations.memberships import Membership


class Members(Protocol):
    """Who manages which organization. Whoever changes memberships has locked the organization."""

    def of_user(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        """Find a person's membership in an organization."""
        ...

    def organizations_of(self, user_id: UUID | None) -> Sequence[UUID]:
        """List the organizations that a person is a member of; nobody is of none."""
        ...

    def defer_organizations_of(self, user_id: UUID | None) -> Deferred[Sequence[UUID]]:
        """Ask what `organizations_of` answers."""
        ...

    def page(self, organization_id: UUID, *, role: str | None, limit: int, offset: int) -> MembersPage:
        """Return members, the oldest membership first, with their number and the limit of the organization's tier."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> Member | None:
        """Find a member of an organization."""
        ...

    def count(self, organization_id: UUID) -> int:
        """Count the members of an organization."""
        ...

    def add(self, membership: Membership) -> bool:
        """Make somebody a member; False when they are one."""
        ...

    def set_role(self, organization_id: UUID, user_id: UUID, role: str) -> None:
        """Give a member another role. There is one owner at every moment, so the old one goes before the new one."""
        ...

    def remove(self, organization_id: UUID, user_id: UUID) -> None:
        """End a membership, and with it what was granted to the member on single services."""
        ...
