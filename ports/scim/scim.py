"""Storage of SCIM: tokens, users, groups, the directory, its log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.authority import Authority
from core.organizations.organizations import MadeThrough, Membership
from core.positions import Position
from core.prefixed_tokens import PrefixedToken
from core.scim.directory import ProvisionedMember
from core.scim.directory_group_patches import GroupSearch
from core.scim.directory_groups import GroupsPage, PersonInGroup
from core.scim.group_resources import Group
from core.scim.groups import GroupMember
from core.scim.kept_members import NamedMember
from core.scim.log import CallSearch, ProvisioningLogEntry, ProvisioningPage
from core.scim.tokens import ScimCaller, ScimToken
from core.scim.user_filters import Condition
from core.scim.users import DirectoryProfile, NewMember, StoredUser, StoredUsersPage


class ScimTokens(Protocol):
    """The SCIM tokens of organizations, and the callers behind them."""

    def callers(self, token: PrefixedToken) -> Sequence[ScimCaller]:
        """Return the callers whose tokens have this prefix, with their organizations, in one statement."""
        ...

    def record_use(self, caller: ScimCaller, *, at: datetime) -> None:
        """Record that the token was used, unless a concurrent transaction does so; never wait for one."""
        ...

    def add(
        self,
        organization_id: UUID,
        token: ScimToken,
        *,
        token_hash: bytes,
        created_by: UUID,
        authority: Authority,
        made_through: MadeThrough | None = None,
    ) -> None:
        """Store a new token with its maker's authority, and the way by which a vendor made it for a customer."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[ScimToken]:
        """List the tokens of an organization, the newest first."""
        ...

    def remove(self, organization_id: UUID, token_id: UUID) -> ScimToken | None:
        """Delete a token and return it; None when there is none. Of concurrent calls one gets it."""
        ...


class ScimUsers(Protocol):
    """The members of organizations as SCIM users. A transaction that changes them has locked the organization."""

    def defer_page_of_token(self, *, limit: int, offset: int) -> Deferred[StoredUsersPage]:
        """Defer reading members of the organization whose token the request presents, and their number.

        The oldest membership comes first. The members are not counted.
        """
        ...

    def matching(self, organization_id: UUID, condition: Condition, *, limit: int, offset: int) -> StoredUsersPage:
        """Return the members that meet a condition, in the same order, and their number, in one statement."""
        ...

    def find(self, organization_id: UUID, known_id: UUID) -> StoredUser | None:
        """Return the member that an organization knows by this id, else the one whose account has it; else None."""
        ...

    def find_account(self, organization_id: UUID, user_id: UUID) -> StoredUser | None:
        """Return a member of an organization; None when the account is no member."""
        ...

    def is_name_taken(self, organization_id: UUID, user_name: str, *, except_user_id: UUID | None) -> bool:
        """Return whether another member has this userName, which is no mail address, ignoring case."""
        ...

    def save(self, organization_id: UUID, user_id: UUID, profile: DirectoryProfile) -> None:
        """Store the directory's present data of a member."""
        ...

    def set_suspended(self, organization_id: UUID, user_id: UUID, *, at: datetime | None) -> None:
        """Suspend a membership, or, with None, end its suspension."""
        ...

    def delete_sign_ins(self, organization_id: UUID, user_id: UUID) -> None:
        """Delete the login events of a user in an organization, except those of its services."""
        ...


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


class ScimDirectory(Protocol):
    """The members of an organization that its directory provisions."""

    def page(
        self, organization_id: UUID, *, part: str, after: Position | None, limit: int
    ) -> Sequence[ProvisionedMember]:
        """List members with a part in the address or in the directory's user name, after a position, by id.

        An empty part filters nothing.
        """
        ...

    def count(self, organization_id: UUID, *, part: str, counted_max: int) -> int:
        """Count the same members, up to a maximum."""
        ...


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

    def people(
        self, organization_id: UUID, group_id: UUID, *, after: Position | None = None, limit: int, offset: int = 0
    ) -> Sequence[PersonInGroup]:
        """Return members of a group, from a position on or without the first ones, by the order of their ids."""
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


class ScimLog(Protocol):
    """The provisioning logs of organizations."""

    def add(self, organization_id: UUID, entry: ProvisioningLogEntry) -> None:
        """Store an entry."""
        ...

    def failures(self, organization_id: UUID, *, limit: int) -> Sequence[ProvisioningLogEntry]:
        """Return the failures among the last entries, the newest first."""
        ...

    def last_of_tokens(self, organization_id: UUID) -> Sequence[ProvisioningLogEntry]:
        """Return the last entry of each token of an organization, among the newest entries."""
        ...

    def found(
        self, organization_id: UUID, wanted: CallSearch, *, after: Position | None, limit: int
    ) -> Sequence[ProvisioningLogEntry]:
        """Return entries after a position, the newest first."""
        ...

    def count(self, organization_id: UUID, wanted: CallSearch, *, counted_max: int) -> int:
        """Return how many entries there are, at most this number."""
        ...

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> ProvisioningPage:
        """Return entries, the newest first, and their number, in one statement."""
        ...
