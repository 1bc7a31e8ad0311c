"""Storage of the groups of directories."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.authority import Authority
from core.positions import Position
from core.scim.directory_group_filters import GroupSearch
from core.scim.directory_groups import GroupsPage, PersonInGroup
from core.scim.group_resources import Group


class DirectoryGroups(Protocol):
    """The groups of organizations' directories. A transaction that changes them has locked the organization."""

    def page(self, organization_id: UUID, wanted: GroupSearch, *, limit: int, offset: int) -> GroupsPage:
        """Return the groups that fit, the oldest first, without members, and their number."""
        ...

    def find(self, organization_id: UUID, group_id: UUID) -> Group | None:
        """Return a group without its members."""
        ...

    def members_in_form(self, organization_id: UUID, group_ids: Sequence[UUID], member_form: str) -> Mapping[UUID, str]:
        """Return the members of each group as one text, in one statement: `member_form` for each, separated by commas.

        `ID_IN_FORM` in it becomes the id by which the organization knows the member. Groups without members are left
        out.
        """
        ...

    def members(self, organization_id: UUID, group_id: UUID, *, after: UUID | None, limit: int) -> Sequence[UUID]:
        """Return the accounts of the first members of a group, or of the first after one, in the order of their ids."""
        ...

    def people(self, organization_id: UUID, group_id: UUID, *, limit: int, offset: int) -> Sequence[PersonInGroup]:
        """Return members of a group, by the order of their ids."""
        ...

    def people_after(
        self, organization_id: UUID, group_id: UUID, *, after: Position | None, limit: int
    ) -> Sequence[PersonInGroup]:
        """Return members of a group after a position, by the order of their ids."""
        ...

    def found(self, organization_id: UUID, *, part: str, after: Position | None, limit: int) -> Sequence[Group]:
        """Return groups after a position with a part in their name, the oldest first; an empty part filters nothing."""
        ...

    def count_found(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        """Count the same groups, up to a maximum."""
        ...

    def count(self, organization_id: UUID) -> int:
        """Count the groups."""
        ...

    def is_taken(self, organization_id: UUID, group: Group) -> bool:
        """Return whether another group has the name, ignoring case, or the id in the directory."""
        ...

    def add(self, organization_id: UUID, group: Group) -> None:
        """Store a new group without members."""
        ...

    def save(self, organization_id: UUID, group: Group, *, at: datetime) -> None:
        """Store the name and the id in the directory of a group."""
        ...

    def remove(self, organization_id: UUID, group_id: UUID) -> None:
        """Delete a group, with its members' places in it and its rules."""
        ...

    def remove_all(self, organization_id: UUID) -> Sequence[UUID]:
        """Delete all groups with their rules; return which."""
        ...

    def left(self, *, before: datetime, organization_id: UUID | None = None) -> UUID | None:
        """Return an organization, or this one, whose groups no token has managed since that time; None without one."""
        ...

    def authorities(self, organization_id: UUID) -> Mapping[UUID, Authority]:
        """Return the rights of the makers of the tokens that have put members into groups."""
        ...

    def add_authority(self, organization_id: UUID, authority_id: UUID, authority: Authority) -> None:
        """Store the rights of the maker of a token."""
        ...

    def forget_authorities(self, organization_id: UUID) -> bool:
        """Delete the authorities that no member of a group refers to any longer; return whether there were any."""
        ...

    def add_members(
        self,
        organization_id: UUID,
        group_id: UUID,
        user_ids: Sequence[UUID],
        authority_id: UUID,
        *,
        gives_products: bool,
        instead_of: Sequence[UUID],
        token_id: UUID,
    ) -> int | None:
        """Put members into a group in one statement; return how many were not in it, None when one is no member.

        A member who is in it by one of the authorities `instead_of` is in it by this one from now on. `gives_products`
        says whether new members get the products that the organization assigns to the group. What a young token does
        is recorded for an undo, here and in `remove_members`.
        """
        ...

    def remove_members(
        self, organization_id: UUID, group_id: UUID, user_ids: Sequence[UUID], *, token_id: UUID
    ) -> Sequence[UUID]:
        """Remove members from a group in one statement; return who was in it."""
        ...
