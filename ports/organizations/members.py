"""Storage of memberships."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.members import Member, MembersPage
from core.organizations.memberships import Membership


class Members(Protocol):
    """Memberships. A transaction that changes them has locked the organization."""

    def of_user(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        """Return a user's membership in an organization; None when they are not a member."""
        ...

    def organizations_of(self, user_id: UUID | None) -> Sequence[UUID]:
        """List the ids of the organizations of which a user is a confirmed member; for None the list is empty.

        Those where the user is suspended are left out.
        """
        ...

    def defer_organizations_of(self, user_id: UUID | None) -> Deferred[Sequence[UUID]]:
        """Return the deferred result of `organizations_of`."""
        ...

    def of_account(self, user_id: UUID) -> Sequence[Membership]:
        """List the memberships of a user in all organizations, in the order of the organizations' ids."""
        ...

    def all_organizations_of(self, user_id: UUID) -> Sequence[UUID]:
        """List the ids of the organizations of which a user is a member, confirmed or not."""
        ...

    def unconfirmed_organizations_of(self, user_id: UUID) -> Sequence[UUID]:
        """List the ids of the organizations whose membership a user has not confirmed, in their order."""
        ...

    def page(self, organization_id: UUID, *, role: str | None, limit: int, offset: int) -> MembersPage:
        """Return a page of members, the oldest membership first, with their number and the limit of the tier.

        With a role, only the members who have it are listed and counted.
        """
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> Member | None:
        """Return a member of an organization; None when the user is not a member."""
        ...

    def owner_email(self, organization_id: UUID) -> str:
        """Return the address of the owner of an organization."""
        ...

    def defer_count_with_admitted(self, organization_id: UUID) -> Deferred[int]:
        """Defer counting the members of an organization and the people it admits for the customers of its services."""
        ...

    def lock_count(self, organization_id: UUID) -> None:
        """Let no other transaction admit people for customers of an organization before this one ends."""
        ...

    def is_suspended(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a user is a member of an organization who is suspended."""
        ...

    def defer_count(self, organization_id: UUID) -> Deferred[int]:
        """Defer counting the members of an organization."""
        ...

    def defer_add(self, membership: Membership, *, is_confirmed: bool) -> Deferred[bool]:
        """Defer storing a new membership; False when the user is a member already."""
        ...

    def unconfirmed(self, organization_id: UUID, user_id: UUID) -> Membership | None:
        """Return a user's membership if they have not confirmed it; else None."""
        ...

    def confirm(self, organization_id: UUID, user_id: UUID) -> None:
        """Mark a membership as confirmed by its user; do nothing when it is already, or when there is none."""
        ...

    def set_role(self, organization_id: UUID, user_ids: Sequence[UUID], role: str) -> None:
        """Store another role of members. An index allows one owner, so the old one is changed before the new one."""
        ...

    def remove(self, organization_id: UUID, user_id: UUID) -> None:
        """Delete a membership, and with it the member's grants on services."""
        ...
