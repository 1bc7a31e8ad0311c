"""The groups that a SCIM token finds: its organization as one group, or the groups of the directory.

`member_form` is the text of a member in the answer, with `ID_IN_FORM` instead of the id; without one the answer shows
no members. PostgreSQL fills it in for each member, because a group has up to `MEMBERS_MAX`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.scim import directory_groups, groups, tokens
from core.scim.directory_groups import GroupsPage, GroupValues
from core.scim.group_resources import Group
from core.scim.patches import PatchOperation
from core.scim.refusals import GroupCannotBeDeleted, Unsupported

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def list_page(
    uow: UnitOfWork, *, filter_text: str | None, start: int, count: int, member_form: str | None
) -> GroupsPage:
    """List the groups that a filter selects; `start` counts from 1. Raise `InvalidFilter` or `TooMany`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.list_page(
            uow, filter_text=filter_text, start=start, count=count, member_form=member_form
        )
    found = groups.list_all(uow, filter_text=filter_text, member_form=member_form)
    return GroupsPage(groups=found[start - 1 :][:count], total=len(found))


def show(uow: UnitOfWork, group_id: UUID, *, member_form: str | None) -> Group:
    """Return a group; raise `ResourceUnknown`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.show(uow, group_id, member_form=member_form)
    return groups.show(uow, group_id, member_form=member_form)


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
    """Replace a group by the values that a directory sends; of the organization only the members."""
    if uow.scim_caller.manages_groups:
        return directory_groups.replace(uow, group_id, values, member_form=member_form, versions=versions)
    return groups.replace(uow, group_id, values.member_ids, member_form=member_form, versions=versions)


def patch(
    uow: UnitOfWork,
    group_id: UUID,
    operations: Sequence[PatchOperation],
    *,
    member_form: str | None,
    versions: Collection[str] | None = None,
) -> Group:
    """Apply the operations of a PATCH."""
    if uow.scim_caller.manages_groups:
        return directory_groups.patch(uow, group_id, operations, member_form=member_form, versions=versions)
    return groups.patch(uow, group_id, operations, member_form=member_form, versions=versions)


def delete(uow: UnitOfWork, group_id: UUID, *, versions: Collection[str] | None = None) -> None:
    """Delete a group; raise `GroupCannotBeDeleted` for the organization."""
    if uow.scim_caller.manages_groups:
        directory_groups.delete(uow, group_id, versions=versions)
        return
    groups.show(uow, group_id, member_form=None)
    raise GroupCannotBeDeleted
