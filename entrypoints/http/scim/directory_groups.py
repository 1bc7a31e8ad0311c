"""The groups of an organization's directory, as its members read them."""

from datetime import datetime
from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.organizations.organizations import MembershipStatus
from core.scim import directory_groups
from core.scim.directory_groups import PersonInGroup
from core.scim.refusals import ResourceUnknown
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "groups",
    "The groups that the directory of an organization sends by SCIM, with a token whose `groups` is `directory`. The"
    " directory alone changes them.",
)


class DirectoryGroup(msgspec.Struct, kw_only=True):
    """A group of the directory."""

    id: UUID
    name: str
    external_id: str | None
    member_count: int
    created_at: datetime
    updated_at: datetime


class DirectoryGroupList(msgspec.Struct, kw_only=True):
    """A page of groups, and the number of all."""

    groups: list[DirectoryGroup]
    total: int


class GroupMemberItem(Record, of=PersonInGroup, without=("joined_at", "is_suspended")):
    """A member of the organization who is in the group."""

    status: MembershipStatus


class GroupMemberList(msgspec.Struct, kw_only=True):
    """A page of the members of a group, and the number of all."""

    members: list[GroupMemberItem]
    total: int


@routes.get("/api/organizations/:slug/groups")
@in_organization(Operation.GROUPS_READ)
async def list_directory_groups(call: Call, slug: str, query: Paged) -> DirectoryGroupList:
    """List the groups of the directory, the oldest first."""
    page = await call.read(directory_groups.list_of_organization, slug, page=query.page, limit=query.limit)
    return DirectoryGroupList(
        groups=[
            DirectoryGroup(
                id=group.id,
                name=group.display_name,
                external_id=group.external_id,
                member_count=group.member_count,
                created_at=group.created_at,
                updated_at=group.updated_at,
            )
            for group in page.groups
        ],
        total=page.total,
    )


@routes.get("/api/organizations/:slug/groups/:group_id/members", refuses=(ResourceUnknown,))
@in_organization(Operation.GROUPS_READ)
async def list_group_members(call: Call, slug: str, group_id: UUID, query: Paged) -> GroupMemberList:
    """List the members of a group, by the order of their ids."""
    page = await call.read(directory_groups.list_members, slug, group_id, page=query.page, limit=query.limit)
    return GroupMemberList(
        members=[
            GroupMemberItem.of(one, status=MembershipStatus.of(is_active=not one.is_suspended)) for one in page.members
        ],
        total=page.group.member_count,
    )
