"""Storage of the rules by which groups give roles, and of the roles that they gave."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.group_roles import AlikeMembers, FittedMember, GivingRules, GroupRule, MadeRule
from core.organizations.group_rules import PersonOfRules


class GroupRules(Protocol):
    """The rules of organizations. A transaction that changes rules or roles has locked the organization."""

    def of_organization(self, organization_id: UUID) -> Sequence[GroupRule]:
        """Return the rules by their place, each with what its maker is now."""
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
        """Return a member whom a rule fits, or whose role a rule gave; None for another one."""
        ...

    def members(self, organization_id: UUID, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """Return the ids of the first members, or of the first after one, in the order of the ids."""
        ...

    def alike(self, organization_id: UUID, user_ids: Sequence[UUID], giving: GivingRules) -> Sequence[AlikeMembers]:
        """Return who of these members gets another role, or the same from another source, together with those alike.

        The first rule gives that fits: the one that gave the role before, or one of `giving` that the maker of the
        token could give who put the member in the group. Who gets nothing any longer that a rule gave is a member.
        """
        ...

    def give(self, organization_id: UUID, alike: Sequence[AlikeMembers]) -> None:
        """Set roles and what gave them, in one statement."""
        ...

    def people(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[PersonOfRules]:
        """Return the addresses and names of members, by address."""
        ...

    def has_overage(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a connection said last that a user is in too many groups to name."""
        ...

    def ruled_by_connections(self, user_id: UUID) -> Sequence[UUID]:
        """Return the organizations in which a user has a role by what a connection asserts."""
        ...

    def asserted(self, organization_id: UUID, *, limit: int) -> Sequence[str]:
        """Return the values that the latest sign-ins by connections named as groups, each once, by their text."""
        ...

    def has_asserted(self, organization_id: UUID, connection_id: str, group: str) -> bool:
        """Return whether one of the latest sign-ins by a connection named a group; the id may be any text."""
        ...

    def roles_of_connection(self, organization_id: UUID, connection_id: UUID) -> Sequence[str]:
        """Return the roles that rules give by what a connection asserts."""
        ...
