"""The groups that a SCIM token finds: its organization as one group, or those of the directory (decisions 16.1)."""

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


def list_page(uow: UnitOfWork, *, filter_text: str | None, start: int, count: int, shows_members: bool) -> GroupsPage:
    """List the groups that a filter selects; `start` counts from 1. Raise `InvalidFilter` or `TooMany`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.list_page(
            uow, filter_text=filter_text, start=start, count=count, shows_members=shows_members
        )
    found = groups.list_all(uow, filter_text=filter_text, shows_members=shows_members)
    return GroupsPage(groups=found[start - 1 :][:count], total=len(found))


def show(uow: UnitOfWork, group_id: UUID, *, shows_members: bool) -> Group:
    """Return a group; raise `ResourceUnknown`."""
    if uow.scim_caller.manages_groups:
        return directory_groups.show(uow, group_id, shows_members=shows_members)
    return groups.show(uow, group_id, shows_members=shows_members)


def create(uow: UnitOfWork, values: GroupValues, *, shows_members: bool) -> Group:
    """Create a group; raise `Unsupported` for a token that finds the organization alone."""
    if uow.scim_caller.manages_groups:
        return directory_groups.create(uow, values, shows_members=shows_members)
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
    shows_members: bool,
    versions: Collection[str] | None = None,
) -> Group:
    """Make a group what a directory wants it to be; of the organization, the members alone."""
    if uow.scim_caller.manages_groups:
        return directory_groups.replace(uow, group_id, values, shows_members=shows_members, versions=versions)
    return groups.replace(uow, group_id, values.member_ids, versions=versions)


def patch(
    uow: UnitOfWork,
    group_id: UUID,
    operations: Sequence[PatchOperation],
    *,
    shows_members: bool,
    versions: Collection[str] | None = None,
) -> Group:
    """Apply the operations of a PATCH."""
    if uow.scim_caller.manages_groups:
        return directory_groups.patch(uow, group_id, operations, shows_members=shows_members, versions=versions)
    return groups.patch(uow, group_id, operations, versions=versions)


def delete(uow: UnitOfWork, group_id: UUID, *, versions: Collection[str] | None = None) -> None:
    """Delete a group; raise `GroupCannotBeDeleted` for the organization."""
    if uow.scim_caller.manages_groups:
        directory_groups.delete(uow, group_id, versions=versions)
        return
    groups.show(uow, group_id, shows_members=False)
    raise GroupCannotBeDeleted
