"""SCIM groups: an organization is one group, whose members are its members.

A directory reads the group and changes its members; it neither creates nor deletes nor renames groups. Tokens that
manage groups of the directory see those instead (`directory_groups.py`).

`member_form` is the text of a member in the answer, with `ID_IN_FORM` instead of the id; without one the answer shows
no members. PostgreSQL fills it in for each member, because a group has up to `MEMBERS_MAX`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import departures, inviters, keys, members
from core.organizations.organizations import MEMBER, OWNER, Membership, Organization
from core.parts import in_parts, read_in_parts
from core.scim import directory_groups, filters, kept_members, tokens, user_changes, users
from core.scim.directory_groups import GroupsPage, GroupValues
from core.scim.filters import Filter
from core.scim.group_patches import member_changes
from core.scim.group_resources import MEMBERS_MAX, Group, require_showable
from core.scim.kept_members import KeptReason
from core.scim.patches import OperationKind, PatchOperation
from core.scim.refusals import GroupCannotBeDeleted, InvalidValue, MembersFull, ResourceUnknown, Unsupported

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMember:
    """What a change of the group has to know of a member, by the id of the account."""

    user_id: UUID
    role: str


def list_page(
    uow: UnitOfWork, *, filter_text: str | None, start: int, count: int, member_form: str | None
) -> GroupsPage:
    """List the groups that a filter selects; `start` counts from 1. Raise `InvalidFilter` or `TooMany`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.list_page(
            uow, filter_text=filter_text, start=start, count=count, member_form=member_form
        )
    organization_id = tokens.authorize(uow).organization_id
    group = _group(uow, organization_id, member_form=None)
    if filter_text is not None and not _is_selected(uow, group, filters.parse(filter_text)):
        return GroupsPage(groups=[], total=0)
    if member_form is not None:
        group = _group(uow, organization_id, member_form=member_form)
    return GroupsPage(groups=[group][start - 1 :][:count], total=1)


def show(uow: UnitOfWork, group_id: UUID, *, member_form: str | None) -> Group:
    """Return a group; raise `ResourceUnknown`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.show(uow, group_id, member_form=member_form)
    organization_id = tokens.authorize(uow).organization_id
    _require_own(group_id, organization_id)
    return _group(uow, organization_id, member_form=member_form)


def create(uow: UnitOfWork, values: GroupValues, *, member_form: str | None) -> Group:
    """Create a group; raise `Unsupported` for a token that finds only the organization."""
    if uow.scim_caller.manages_groups:
        return directory_groups.create(uow, values, member_form=member_form)
    tokens.authorize(uow)
    raise Unsupported(
        "This token finds the organization as one group, and creates none. For a directory that sends groups, make a"
        " token with groups set to directory."
    )


def replace(
    uow: UnitOfWork,
    group_id: UUID,
    values: GroupValues,
    *,
    member_form: str | None,
    versions: Collection[str] | None = None,
) -> Group:
    """Replace a group by the values that a directory sends.

    Of the organization only the members: new ones are added, others keep their roles, absent ones are removed. The
    owner and the members that the token may not change stay; the returned group lists them. Raise `InvalidValue` for an
    account that the organization does not know.
    """
    if uow.scim_caller.manages_groups:
        return directory_groups.replace(uow, group_id, values, member_form=member_form, versions=versions)
    organization = _locked(uow, group_id, versions)
    kept = _replace(uow, organization, _accounts(uow, organization, values.member_ids))
    return _answered(uow, organization.id, kept, member_form=member_form)


def patch(
    uow: UnitOfWork,
    group_id: UUID,
    operations: Sequence[PatchOperation],
    *,
    member_form: str | None,
    versions: Collection[str] | None = None,
) -> Group:
    """Apply the operations of a PATCH; members who stay all the same are listed as by `replace`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.patch(uow, group_id, operations, member_form=member_form, versions=versions)
    organization = _locked(uow, group_id, versions)
    held = {"id": str(group_id), "displayname": organization.name}
    kept: dict[UUID, KeptReason] = {}
    for change in member_changes(operations, held):
        ids = _accounts(uow, organization, change.ids)
        match change.kind:
            case OperationKind.ADD:
                present = {member.user_id for member in uow.scim_groups.among(organization.id, ids)}
                _add(uow, organization, ids - present)
                kept = {user_id: reason for user_id, reason in kept.items() if user_id not in ids}
            case OperationKind.REMOVE:
                kept |= _take_out(uow, organization.id, uow.scim_groups.among(organization.id, ids))
            case _:
                kept = _replace(uow, organization, ids)
    return _answered(uow, organization.id, kept, member_form=member_form)


def delete(uow: UnitOfWork, group_id: UUID, *, versions: Collection[str] | None = None) -> None:
    """Delete a group; raise `GroupCannotBeDeleted` for the organization."""
    if uow.scim_caller.manages_groups:
        directory_groups.delete(uow, group_id, versions=versions)
        return
    show(uow, group_id, member_form=None)
    raise GroupCannotBeDeleted


def _accounts(uow: UnitOfWork, organization: Organization, ids: Collection[UUID]) -> frozenset[UUID]:
    """Return the accounts that the organization knows by these ids."""
    return uow.known_ids.accounts(organization.id, ids)


def _require_own(group_id: UUID, organization_id: UUID) -> None:
    if group_id != organization_id:
        raise ResourceUnknown


def _locked(uow: UnitOfWork, group_id: UUID, versions: Collection[str] | None) -> Organization:
    _require_own(group_id, tokens.authorize(uow).organization_id)
    organization = tokens.authorize_and_lock(uow)
    user_changes.require_version(_group(uow, organization.id, member_form=None).version, versions)
    return organization


def _group(uow: UnitOfWork, organization_id: UUID, *, member_form: str | None) -> Group:
    group = uow.scim_groups.find(organization_id, member_form=member_form, members_max=MEMBERS_MAX)
    if group is None:
        raise ResourceUnknown
    if member_form is not None:
        require_showable(group.member_count)
    return group


def _answered(
    uow: UnitOfWork, organization_id: UUID, kept: Mapping[UUID, KeptReason], *, member_form: str | None
) -> Group:
    """Return the changed group with the members who stay although the directory took them out."""
    group = _group(uow, organization_id, member_form=member_form)
    return group.with_kept(kept_members.report(uow, organization_id, kept)) if kept else group


def _replace(uow: UnitOfWork, organization: Organization, wanted: frozenset[UUID]) -> dict[UUID, KeptReason]:
    """Make these the members; return others who stay, and why."""
    require_showable(_group(uow, organization.id, member_form=None).member_count)
    absent: list[GroupMember] = []
    present: set[UUID] = set()
    for part in read_in_parts(partial(uow.scim_groups.members, organization.id), lambda member: member.user_id):
        absent += [member for member in part if member.user_id not in wanted]
        present.update(member.user_id for member in part)
    # Removed first, to make room.
    kept = _take_out(uow, organization.id, absent)
    _add(uow, organization, wanted - present)
    return kept


def _take_out(uow: UnitOfWork, organization_id: UUID, leaving: Sequence[GroupMember]) -> dict[UUID, KeptReason]:
    """Remove the members that the maker of the token could remove; return the others, and why they stay."""
    unreached = tokens.out_of_reach(uow, organization_id, {member.role for member in leaving})
    kept = {
        member.user_id: KeptReason.OWNER if member.role == OWNER else KeptReason.ROLE
        for member in leaving
        if member.role == OWNER or member.role in unreached
    }
    _remove(uow, organization_id, [member.user_id for member in leaving if member.user_id not in kept])
    return kept


def _add(uow: UnitOfWork, organization: Organization, ids: frozenset[UUID]) -> None:
    for part in in_parts(sorted(ids, key=attrgetter("int"))):
        _add_part(uow, organization, part)


def _add_part(uow: UnitOfWork, organization: Organization, added: Sequence[UUID]) -> None:
    known = uow.scim_groups.lock_known(organization.id, added)
    if len(known) != len(added):
        raise InvalidValue("members: This organization has no user with one of these ids.")
    memberships = [
        Membership(
            id=uow.randomness.new_id(),
            organization_id=organization.id,
            user_id=user_id,
            role=MEMBER,
            created_at=uow.now,
        )
        for user_id in added
    ]
    uow.scim_groups.add(organization.id, memberships)
    if not members.defer_room(uow, organization)():
        raise MembersFull
    uow.own_accounts.activate(organization.id, added, at=uow.now)
    uow.record_each(AuditAction.USER_JOINED, [(organization.id, user_id) for user_id in added], role=MEMBER)
    users.send(uow, organization, memberships, known)


def _remove(uow: UnitOfWork, organization_id: UUID, ids: Sequence[UUID]) -> None:
    """End memberships as removing a member does (`core/organizations/members.py`)."""
    departures.tell_owner(uow, organization_id, ids)
    for part in in_parts(ids):
        inviters.withdraw_of_leaving(uow, organization_id, part)
        departures.end(uow, organization_id, part)
        keys.end_of_makers(uow, part, organization_id)
        uow.scim_groups.remove(organization_id, part)
        uow.record_each(AuditAction.USER_REMOVED, [(organization_id, user_id) for user_id in part])


def _is_selected(uow: UnitOfWork, group: Group, filter_: Filter) -> bool:
    named = [
        user_id
        for comparison in filters.comparisons(filter_)
        if comparison.path.key in {"members", "members.value"} and isinstance(comparison.value, str)
        for user_id in filters.ids_among([comparison.value])
    ]
    accounts = uow.known_ids.defer_accounts(group.id, named)()
    present = {member.user_id for member in uow.scim_groups.among(group.id, accounts.values())}
    attributes: dict[str, Any] = {
        "id": str(group.id),
        "displayname": group.display_name,
        "meta": {
            "resourcetype": "Group",
            "created": _written(group.created_at),
            "lastmodified": _written(group.updated_at),
        },
        # Only the members that the filter names, because it selects by no others.
        "members": [{"value": str(one), "type": "User"} for one in named if accounts[one] in present],
    }
    return filters.matches(filter_, attributes)


def _written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
