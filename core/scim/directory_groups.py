"""The groups that a directory sends by SCIM, for tokens that manage groups (ops/decisions/0064).

They belong to the directory of the organization, not to one token: every such token sees and changes all of them. Their
members are members of the organization; a group neither makes nor ends a membership. Each change applies the group
rules in its transaction (`core/organizations/group_roles.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import ErrorCode
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import group_roles
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize
from core.parts import in_parts, read_in_parts
from core.positions import FoundRows, Listing, Position, found_rows, listing
from core.scim import filters, tokens, user_changes
from core.scim.directory_group_patches import GroupChange, GroupSearch, changed, search_of
from core.scim.group_resources import Group, require_showable
from core.scim.patches import PatchOperation
from core.scim.refusals import (
    NAMED_MAX,
    InvalidValue,
    ResourceUnknown,
    ScimProblem,
    ScimType,
    TooMany,
    TooManyMembersNamed,
)
from core.sessions import customer_endings
from core.text import TEXT_CHARACTERS_MAX, stored_form
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

GROUPS_MAX: Final = 5_000
# The maximum of different rights, of makers of tokens, with which members of an organization were put into groups.
AUTHORITIES_MAX: Final = 100


class GroupExists(ScimProblem):
    """Another group of the directory has the name or the `externalId`."""

    code = ErrorCode.CONFLICT
    scim_type = ScimType.UNIQUENESS
    default_message = "The organization has another group with this displayName or externalId. Use that group."


class TooManyGroups(TooMany):
    """The organization has the maximum number of groups."""

    default_message = Wording(
        "An organization can have at most %(maximum)s groups. Send only those that decide something here.",
        maximum=GROUPS_MAX,
    )


class TooManyAuthorities(TooMany):
    """Members were put into groups by tokens whose makers had the maximum number of different rights."""

    default_message = Wording(
        "Members were put into groups by tokens with more than %(maximum)s different rights. Send all members of each"
        " group once more by one token whose maker may give all roles, then use that token.",
        maximum=AUTHORITIES_MAX,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupValues:
    """The values that a directory sends for a group."""

    display_name: str
    external_id: str | None = None
    member_ids: frozenset[UUID] = field(default=frozenset(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPage:
    """A page of groups, and the number of all."""

    groups: Sequence[Group]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonInGroup:
    """A member of a group, as members of the organization see them."""

    user_id: UUID
    email: str
    name: str | None
    role: str
    joined_at: datetime
    is_suspended: bool

    @property
    def position(self) -> Position:
        """The place of the member in the list, which the id alone decides."""
        return Position(at=self.joined_at, id=self.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMembersPage:
    """A group with a page of its members."""

    group: Group
    members: Sequence[PersonInGroup]


def id_of_name(uow: UnitOfWork, slug: str, name: str) -> UUID | None:
    """Return the id of an organization's group with this name, in any case; None without one."""
    return named(uow, authorize(uow, slug, Operation.GROUPS_READ).organization.id, name)


def named(uow: UnitOfWork, organization_id: UUID, name: str) -> UUID | None:
    """Do what `id_of_name` does for an authorized caller."""
    wanted = GroupSearch(display_name=stored_form(name))
    found = uow.directory_groups.page(organization_id, wanted, limit=1, offset=0)
    return found.groups[0].id if found.groups else None


def list_of_organization(uow: UnitOfWork, slug: str, *, page: int, limit: int) -> GroupsPage:
    """List the groups of an organization to a member, the oldest first."""
    organization = authorize(uow, slug, Operation.GROUPS_READ).organization
    return uow.elsewhere.directory_groups.page(organization.id, GroupSearch(), limit=limit, offset=(page - 1) * limit)


def list_members(uow: UnitOfWork, slug: str, group_id: UUID, *, page: int, limit: int) -> GroupMembersPage:
    """List the members of a group to a member of the organization; raise `ResourceUnknown`."""
    organization = authorize(uow, slug, Operation.GROUPS_READ).organization
    group = _shown(uow, organization.id, group_id, member_form=None)
    found = uow.elsewhere.directory_groups.people(organization.id, group_id, limit=limit, offset=(page - 1) * limit)
    return GroupMembersPage(group=group, members=found)


def found(uow: UnitOfWork, slug: str, *, search: str) -> Listing[Group]:
    """Find the groups with a part in their name, the oldest first."""
    organization_id = authorize(uow, slug, Operation.GROUPS_READ).organization.id
    page, count = uow.elsewhere.directory_groups.found, uow.elsewhere.directory_groups.count_found
    return listing(page, count, organization_id, part=stored_form(search))


def show_to_members(
    uow: UnitOfWork, slug: str, group_id: UUID, *, after: Position | None, limit: int
) -> tuple[Group, FoundRows[PersonInGroup]]:
    """Return a group and its members from a position on, in the order of their ids; raise `ResourceUnknown`."""
    organization_id = authorize(uow, slug, Operation.GROUPS_READ).organization.id
    group = _shown(uow, organization_id, group_id, member_form=None)
    found = uow.elsewhere.directory_groups.people(organization_id, group_id, after=after, limit=limit + 1)

    def count(*, counted_max: int) -> int:
        return min(group.member_count, counted_max)

    return group, found_rows(found, after=after, limit=limit, count=count)


def listed_members(
    uow: UnitOfWork, slug: str, group_id: UUID, *, after: Position | None, limit: int
) -> Sequence[PersonInGroup]:
    """Return a part of the members of a group; for files."""
    organization_id = authorize(uow, slug, Operation.GROUPS_READ).organization.id
    _shown(uow, organization_id, group_id, member_form=None)
    return uow.elsewhere.directory_groups.people(organization_id, group_id, after=after, limit=limit)


def list_page(
    uow: UnitOfWork, *, filter_text: str | None, start: int, count: int, member_form: str | None
) -> GroupsPage:
    """List the groups that a filter selects, the oldest first; `start` counts from 1. Raise `InvalidFilter`.

    Raise `TooMany` when the groups of the page have more members than one answer shows.
    """
    organization_id = tokens.authorize(uow).organization_id
    wanted = search_of(filters.parse(filter_text)) if filter_text is not None else GroupSearch()
    searched = wanted.of_accounts(_accounts(uow, organization_id, wanted.member_ids))
    found = uow.directory_groups.page(organization_id, searched, limit=count, offset=start - 1)
    if member_form is None:
        return found
    require_showable(sum(group.member_count for group in found.groups))
    members = uow.directory_groups.members_in_form(organization_id, [group.id for group in found.groups], member_form)
    return GroupsPage(
        groups=[group.with_members(members.get(group.id, "")) for group in found.groups], total=found.total
    )


def show(uow: UnitOfWork, group_id: UUID, *, member_form: str | None) -> Group:
    """Return a group of the organization; raise `ResourceUnknown`."""
    return _shown(uow, tokens.authorize(uow).organization_id, group_id, member_form=member_form)


def create(uow: UnitOfWork, values: GroupValues, *, member_form: str | None) -> Group:
    """Create a group; raise `GroupExists`, `TooManyGroups`, and `InvalidValue` for ids of no members."""
    organization = tokens.authorize_and_lock(uow)
    _require_few(values.member_ids)
    group = Group(
        id=uow.randomness.new_id(),
        display_name=_name(values.display_name),
        external_id=_external_id(values.external_id),
        created_at=uow.now,
        updated_at=uow.now,
        member_count=0,
        changes=0,
    )
    _require_free(uow, organization.id, group)
    if uow.directory_groups.count(organization.id) >= GROUPS_MAX:
        raise TooManyGroups
    uow.directory_groups.add(organization.id, group)
    accounts = _accounts(uow, organization.id, values.member_ids)
    added = _add(uow, organization.id, group.id, accounts)
    _record(uow, AuditAction.GROUP_CREATED, organization.id, group, members_added=added)
    _apply(uow, organization.id, accounts)
    return _shown(uow, organization.id, group.id, member_form=member_form)


def replace(
    uow: UnitOfWork,
    group_id: UUID,
    values: GroupValues,
    *,
    member_form: str | None,
    versions: Collection[str] | None = None,
) -> Group:
    """Replace a group by the values that a directory sends; members that it does not name leave the group."""
    organization_id, before = _locked(uow, group_id, versions)
    change = GroupChange(
        display_name=values.display_name,
        external_id=values.external_id,
        replaces=True,
        added=values.member_ids,
    )
    return _change(uow, organization_id, before, change, member_form=member_form)


def patch(
    uow: UnitOfWork,
    group_id: UUID,
    operations: Sequence[PatchOperation],
    *,
    member_form: str | None,
    versions: Collection[str] | None = None,
) -> Group:
    """Apply the operations of a PATCH, all or none."""
    organization_id, before = _locked(uow, group_id, versions)
    return _change(uow, organization_id, before, changed(before, operations), member_form=member_form)


def delete(uow: UnitOfWork, group_id: UUID, *, versions: Collection[str] | None = None) -> None:
    """Delete a group with its rules; its members stay members."""
    organization_id, group = _locked(uow, group_id, versions)
    members = [one for part in _members(uow, organization_id, group_id) for one in part]
    uow.directory_groups.remove(organization_id, group_id)
    _record(uow, AuditAction.GROUP_DELETED, organization_id, group, members_removed=len(members))
    _apply(uow, organization_id, members)


def _locked(uow: UnitOfWork, group_id: UUID, versions: Collection[str] | None) -> tuple[UUID, Group]:
    """Return a group that no other call changes before this transaction ends."""
    organization_id = tokens.authorize_and_lock(uow).id
    group = _shown(uow, organization_id, group_id, member_form=None)
    user_changes.require_version(group.version, versions)
    return organization_id, group


def _shown(uow: UnitOfWork, organization_id: UUID, group_id: UUID, *, member_form: str | None) -> Group:
    group = uow.directory_groups.find(organization_id, group_id)
    if group is None:
        raise ResourceUnknown
    if member_form is None:
        return group
    require_showable(group.member_count)
    members = uow.directory_groups.members_in_form(organization_id, [group_id], member_form)
    return group.with_members(members.get(group_id, ""))


def _change(
    uow: UnitOfWork, organization_id: UUID, before: Group, change: GroupChange, *, member_form: str | None
) -> Group:
    _require_few(change.added, change.removed)
    after = before.renamed(_name(change.display_name), _external_id(change.external_id))
    is_renamed = after != before
    if is_renamed:
        _require_free(uow, organization_id, after)
    named = _accounts(uow, organization_id, change.added)
    if change.replaces:
        removed = _remove_others(uow, organization_id, before.id, named)
    else:
        removed = _remove(uow, organization_id, before.id, _accounts(uow, organization_id, change.removed))
    added = _add(uow, organization_id, before.id, named)
    if is_renamed or added or removed:
        uow.directory_groups.save(organization_id, after, at=uow.now)
        renamed = {"old_name": before.display_name} if after.display_name != before.display_name else {}
        _record(
            uow,
            AuditAction.GROUP_CHANGED,
            organization_id,
            after,
            members_added=added,
            members_removed=len(removed),
            **renamed,
        )
    # Also members who were in the group already: this token's maker may be able to give more roles.
    _apply(uow, organization_id, named.union(removed))
    return _shown(uow, organization_id, before.id, member_form=member_form)


def _add(uow: UnitOfWork, organization_id: UUID, group_id: UUID, accounts: Collection[UUID]) -> int:
    """Put members into a group; return how many were not in it. Raise `InvalidValue` for ids of no members."""
    if not accounts:
        return 0
    own_id, covered = _authorities(uow, organization_id)
    gives_products = Capability.PRODUCTS_MANAGE in tokens.of_caller(uow).capabilities
    added = 0
    for part in in_parts(accounts):
        placed = uow.directory_groups.add_members(
            organization_id,
            group_id,
            part,
            own_id,
            gives_products=gives_products,
            instead_of=covered,
            token_id=uow.scim_caller.token_id,
        )
        if placed is None:
            raise InvalidValue("members: This organization has no user with one of these ids.")
        added += placed
    return added


def _authorities(uow: UnitOfWork, organization_id: UUID) -> tuple[UUID, Sequence[UUID]]:
    """Return the id of the rights of the token's maker, and the ids of lesser rights."""
    own = tokens.of_caller(uow)
    known = uow.directory_groups.authorities(organization_id)
    covered = [one for one, held in known.items() if own != held and own.covers(held)]
    own_id = next((one for one, held in known.items() if held == own), None)
    if own_id is None:
        if len(known) >= AUTHORITIES_MAX and not uow.directory_groups.forget_authorities(organization_id):
            raise TooManyAuthorities
        own_id = uow.randomness.new_id()
        uow.directory_groups.add_authority(organization_id, own_id, own)
    return own_id, covered


def _remove_others(uow: UnitOfWork, organization_id: UUID, group_id: UUID, kept: frozenset[UUID]) -> Sequence[UUID]:
    """Take all members but these out of a group; return the ones that were in it."""
    removed: list[UUID] = []
    for part in _members(uow, organization_id, group_id):
        removed += _remove(uow, organization_id, group_id, [one for one in part if one not in kept])
    return removed


def _remove(uow: UnitOfWork, organization_id: UUID, group_id: UUID, leaving: Collection[UUID]) -> Sequence[UUID]:
    """Take members out of a group; return the ones that were in it."""
    removed: list[UUID] = []
    for part in in_parts(leaving):
        removed += uow.directory_groups.remove_members(
            organization_id, group_id, part, token_id=uow.scim_caller.token_id
        )
    return removed


def _members(uow: UnitOfWork, organization_id: UUID, group_id: UUID) -> Iterator[Sequence[UUID]]:
    """Return the members of a group in parts."""
    return read_in_parts(partial(uow.directory_groups.members, organization_id, group_id), lambda user_id: user_id)


def _accounts(uow: UnitOfWork, organization_id: UUID, ids: frozenset[UUID]) -> frozenset[UUID]:
    """Return the accounts that the organization knows by these ids."""
    return uow.known_ids.accounts(organization_id, ids) if ids else ids


def _apply(uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID]) -> None:
    if user_ids:
        group_roles.apply(uow, organization_id, user_ids, by=tokens.of_caller(uow))
        customer_endings.end_lost(uow, organization_id, user_ids)


def _require_few(*named: Collection[UUID]) -> None:
    if sum(map(len, named)) > NAMED_MAX:
        raise TooManyMembersNamed


def _require_free(uow: UnitOfWork, organization_id: UUID, group: Group) -> None:
    """Raise `GroupExists` when another group has the name, in any case, or the id of the directory."""
    if uow.directory_groups.is_taken(organization_id, group):
        raise GroupExists


def _name(text: str) -> str:
    name = _checked("displayName", text)
    if not name:
        raise InvalidValue("displayName: A group needs a name.")
    return name


def _external_id(text: str | None) -> str | None:
    return _checked("externalId", text) or None if text is not None else None


def _checked(name: str, text: str) -> str:
    checked = stored_form(text)
    if len(checked) > TEXT_CHARACTERS_MAX or not checked.isprintable():
        raise InvalidValue(
            Wording(
                "%(name)s: This has at most %(maximum)s characters, all of them visible.",
                name=name,
                maximum=TEXT_CHARACTERS_MAX,
            )
        )
    return checked


def _record(uow: UnitOfWork, action: AuditAction, organization_id: UUID, group: Group, **details: Any) -> None:
    """Record a change of a group, with the token as the actor; for a customer's directory in the logs of both sides."""
    if uow.scim_caller.is_for_customer:
        uow.audit_at_customer(
            action,
            group.id,
            organization_id,
            is_of_vendor=True,
            name=group.display_name,
            external_id=group.external_id,
            **details,
        )
        return
    uow.record(
        action,
        group.id,
        organization_id=organization_id,
        event_only={"group_id": str(group.id), "scim_token_id": str(uow.scim_caller.token_id)},
        name=group.display_name,
        external_id=group.external_id,
        **details,
    )
