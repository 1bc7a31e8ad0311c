"""Storage of the members of an organization: people, roles, group rules, tiers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.found_members import ListedMember, MemberDeparture
from core.organizations.group_roles import AlikeMembers, FittedMember, GivingRules, GroupRule, MadeRule
from core.organizations.group_rules import PersonOfRules
from core.organizations.members import Member, MembersPage
from core.organizations.organizations import Membership
from core.organizations.roles import Role, RoleHolders
from core.organizations.tiers import CountedTier, Tier
from core.positions import Position


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

    def lock_admissions(self, organization_id: UUID) -> None:
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


class FoundMembers(Protocol):
    """Reads of members; none of them reads the accounts of the platform whole."""

    def page(
        self,
        organization_id: UUID,
        *,
        part: str,
        role: str,
        after: Position | None,
        limit: int,
        without: Collection[UUID] = (),
    ) -> Sequence[ListedMember]:
        """List members after a position, the oldest membership first; an empty part or role filters nothing.

        `without` are a few users who are left out.
        """
        ...

    def count(
        self, organization_id: UUID, *, part: str, role: str, counted_max: int, without: Collection[UUID] = ()
    ) -> int:
        """Count the same members, up to a maximum."""
        ...

    def find(self, organization_id: UUID, user_id: UUID) -> ListedMember | None:
        """Return a member; None when the user is no member."""
        ...

    def among(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[ListedMember]:
        """Return the members among these users, the oldest membership first."""
        ...

    def departure(self, organization_id: UUID, user_ids: Sequence[UUID]) -> MemberDeparture:
        """Count what the removal of these members would end now."""
        ...


class Roles(Protocol):
    """Custom roles. A transaction that changes or assigns one has locked the organization."""

    def of_organization(self, organization_id: UUID) -> Sequence[Role]:
        """List the custom roles of an organization, by slug."""
        ...

    def by_slug(self, organization_id: UUID, slug: str) -> Role | None:
        """Return a custom role of an organization; None when there is none with that slug."""
        ...

    def add(self, organization_id: UUID, role: Role) -> None:
        """Store a new role."""
        ...

    def save(self, organization_id: UUID, role: Role) -> None:
        """Store the new state of a role; its slug does not change."""
        ...

    def holders(self, organization_id: UUID, slugs: Sequence[str], *, counted_max: int) -> Mapping[str, RoleHolders]:
        """Count the members and the pending invitations with each of these roles, each up to `counted_max`."""
        ...

    def is_in_use(self, organization_id: UUID, slug: str) -> bool:
        """Return whether a member or a pending invitation has the role."""
        ...

    def remove(self, organization_id: UUID, slug: str) -> None:
        """Delete a role."""
        ...


class GroupRules(Protocol):
    """The rules of organizations. A transaction that changes rules or roles has locked the organization."""

    def of_organization(self, organization_id: UUID) -> Sequence[GroupRule]:
        """Return the rules in their order, each with the present standing of its maker."""
        ...

    def defer_of_organization(self, organization_id: UUID) -> Deferred[Sequence[GroupRule]]:
        """Defer reading the rules."""
        ...

    def replace(self, organization_id: UUID, rules: Sequence[tuple[UUID, MadeRule]]) -> None:
        """Store all rules in this order, each with its id."""
        ...

    def known_groups(self, organization_id: UUID, ids: Sequence[str]) -> Sequence[UUID]:
        """Return which of these texts are ids of groups of the directory."""
        ...

    def fitted(self, organization_id: UUID, user_id: UUID) -> FittedMember | None:
        """Return a member if a rule fits, or if a rule has given the role; else None."""
        ...

    def members(self, organization_id: UUID, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """Return the ids of the first members, or of the first after one, in the order of the ids."""
        ...

    def alike(self, organization_id: UUID, user_ids: Sequence[UUID], giving: GivingRules) -> Sequence[AlikeMembers]:
        """Return the members whose role or its source changes, grouped by the change.

        The first rule that fits gives the role: the one that gave it before, or one of `giving` whose role the maker of
        the SCIM token that put the member in the group could give. Without such a rule the role becomes `member`.
        """
        ...

    def give(self, organization_id: UUID, alike: Sequence[AlikeMembers]) -> None:
        """Set roles and their sources, in one statement."""
        ...

    def people(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[PersonOfRules]:
        """Return the addresses and names of members, by address."""
        ...

    def has_overage(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a connection's last answer said that a user is in too many groups to name."""
        ...

    def ruled_by_connections(self, user_id: UUID) -> Sequence[UUID]:
        """Return the organizations in which a connection's assertions give a user a role."""
        ...

    def asserted(self, organization_id: UUID, *, limit: int) -> Sequence[str]:
        """Return the distinct groups that connections have asserted in the latest sign-ins, by their text."""
        ...

    def has_asserted(self, organization_id: UUID, connection_id: str, group: str) -> bool:
        """Return whether one of the latest sign-ins by a connection named a group; the id may be any text."""
        ...

    def roles_of_connection(self, organization_id: UUID, connection_id: UUID) -> Sequence[str]:
        """Return the roles that rules on groups of a connection give."""
        ...


class Tiers(Protocol):
    """Tiers, the limits of organizations."""

    def all(self) -> Sequence[Tier]:
        """List the tiers, the smallest first."""
        ...

    def counted(self, counted_max: int, *, tier_id: UUID | None = None) -> Sequence[CountedTier]:
        """List the tiers, or one of them, with the number of organizations of each, counted up to `counted_max`."""
        ...

    def defer_by_id(self, tier_id: UUID) -> Deferred[Tier | None]:
        """Defer reading a tier; None when it does not exist."""
        ...

    def keep(self, tier_id: UUID) -> Tier | None:
        """Return a tier that no other transaction deletes before this one ends; None when it does not exist."""
        ...

    def lock(self, tier_id: UUID) -> Tier | None:
        """Lock a tier and return it; None when it does not exist. No organization gets it meanwhile."""
        ...

    def lock_free(self) -> None:
        """Lock the tier of new organizations against others who call this; organizations can still get it."""
        ...

    def count(self) -> int:
        """Return how many tiers there are."""
        ...

    def add(self, tier: Tier) -> bool:
        """Add a tier; return False, and add none, when another one has its name."""
        ...

    def save(self, tier: Tier) -> None:
        """Store the changed fields of a tier."""
        ...

    def remove(self, tier_id: UUID) -> None:
        """Delete a tier that no organization has."""
        ...

    def free(self) -> Tier:
        """Return the tier of new organizations."""
        ...
