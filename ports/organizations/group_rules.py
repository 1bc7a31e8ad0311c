"""Storage of the rules by which groups give roles, and of the roles that they have given."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.group_roles import AlikeMembers, FittedMember, GivingRules, GroupRule, MadeRule
from core.organizations.group_rules import PersonOfRules


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
