"""Storage of organizations as SCIM groups of their members."""

from collections.abc import Collection, Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.memberships import Membership
from core.scim.group_resources import Group
from core.scim.groups import GroupMember
from core.scim.kept_members import NamedMember
from core.scim.welcome import NewMember


class ScimGroups(Protocol):
    """Organizations as groups. A transaction that changes the members has locked the organization."""

    def find(self, organization_id: UUID, *, member_form: str | None, members_max: int) -> Group | None:
        """Return an organization as a group; with a form, at most `members_max` members by their known ids in it."""
        ...

    def among(self, organization_id: UUID, user_ids: Collection[UUID]) -> Sequence[GroupMember]:
        """Return which of these accounts are members."""
        ...

    def members(self, organization_id: UUID, *, after: UUID | None, limit: int) -> Sequence[GroupMember]:
        """Return the first members, or the first after one, in the order of their account ids."""
        ...

    def named(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[NamedMember]:
        """Return these members with their addresses and the ids by which the organization knows them."""
        ...

    def lock_known(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[NewMember]:
        """Hold and return the accounts among these that the organization created or that use its services.

        Anonymized ones are left out. One that this organization has deactivated counts as active: joining activates it.
        """
        ...

    def lock_new(self, user_id: UUID) -> Sequence[NewMember]:
        """Hold and return an account; return nothing when it does not exist."""
        ...

    def add(self, organization_id: UUID, memberships: Sequence[Membership]) -> None:
        """Store new memberships, which their users have not confirmed, in one statement."""
        ...

    def remove(self, organization_id: UUID, user_ids: Sequence[UUID]) -> None:
        """Delete memberships, and with them the grants on services, in one statement."""
        ...

    def inviters_among(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[UUID]:
        """Return the users among these who have sent invitations that are open."""
        ...
