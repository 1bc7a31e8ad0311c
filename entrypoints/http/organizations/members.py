"""Listing the members of an organization, changing their roles, and removing them."""

from datetime import datetime
from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.organizations import members
from core.organizations.access import Operation
from core.organizations.members import AssignedRoleUnknown, Member, MemberLimits, MemberUnknown, RoleOfRule
from core.organizations.organizations import Membership, MembershipStatus, RoleSource
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Message, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "members", "The people who manage an organization. End users, who sign in to its services, are listed separately."
)


class MembersQuery(Paged, kw_only=True):
    """Filters: a role, custom ones by slug; without it all members."""

    role: str | None = None


class MemberUpdate(msgspec.Struct, kw_only=True):
    """The new role: `admin`, `member`, or the slug of a custom role."""

    role: str


class MemberUser(msgspec.Struct, kw_only=True):
    """The person who is a member."""

    id: UUID
    email: str
    name: str | None
    is_platform_owner: bool


class MembershipSummary(msgspec.Struct, kw_only=True):
    """The membership: the role, when it began, and whether it gives access."""

    id: UUID
    role: str
    role_source: RoleSource | None
    created_at: datetime
    status: MembershipStatus


class MemberItem(msgspec.Struct, kw_only=True):
    """A member."""

    user: MemberUser
    membership: MembershipSummary


class PageInfo(msgspec.Struct, kw_only=True):
    """The page, and the total number of items."""

    page: int
    limit: int
    total: int


class MemberList(msgspec.Struct, kw_only=True):
    """A page of members, and the limit of their number."""

    members: list[MemberItem]
    pagination: PageInfo
    limits: MemberLimits


class UserSummary(msgspec.Struct, kw_only=True):
    """The person whose role was changed."""

    id: UUID
    email: str


class MembershipRecord(Record, of=Membership):
    """A user's membership in an organization; `role` is a built-in role or the slug of a custom role."""

    status: MembershipStatus


class UpdatedMember(msgspec.Struct, kw_only=True):
    """A member with the new role."""

    user: UserSummary
    membership: MembershipRecord


@routes.get("/api/organizations/:slug/members")
@in_organization(Operation.MEMBERS_LIST)
async def list_members(call: Call, slug: str, query: MembersQuery) -> MemberList:
    """List the members, the oldest memberships first.

    `limits.max_users` is the maximum number of members, null for no maximum; `limits.source` is where it is set: in
    the `organization` itself, in its `tier`, or by `default`.
    """
    found, limits = await call.read(members.list_page, slug, role=query.role, page=query.page, limit=query.limit)
    return MemberList(
        members=[_item(member) for member in found.members],
        pagination=PageInfo(page=query.page, limit=query.limit, total=found.total),
        limits=limits,
    )


@routes.patch("/api/organizations/:slug/members/:user_id", refuses=(AssignedRoleUnknown, MemberUnknown, RoleOfRule))
@in_organization(Operation.MEMBER_CHANGE)
async def change_member(call: Call, slug: str, user_id: UUID, body: MemberUpdate) -> UpdatedMember:
    """Change the role of a member, which takes effect with their next request.

    The owner cannot be made or changed this way: transfer the ownership instead. Nor can a role that a rule gave:
    change the groups of the member at their source, or the rule.
    """
    member = await call.transact(members.change_role, slug, user_id, body.role)
    return UpdatedMember(
        user=UserSummary(id=user_id, email=member.email),
        membership=MembershipRecord.of(member.membership, status=MembershipStatus.of(is_active=member.is_active)),
    )


@routes.post("/api/organizations/:slug/members/:user_id", refuses=(BadRequest, MemberUnknown))
@in_organization(Operation.MEMBER_REMOVE)
async def remove_member(call: Call, slug: str, user_id: UUID) -> Message:
    """Remove a member whose role allows no more than yours.

    Their grants on services, their open invitations, and the links to your services that came with the membership end
    too, with the sessions there. Their other sessions stay, but a token that names this organization is refused from
    now on. You cannot remove yourself or the owner.
    """
    await call.transact(members.remove, slug, user_id)
    return Message(message="The member is removed, and has no access to this organization any more.")


def _item(member: Member) -> MemberItem:
    membership = member.membership
    return MemberItem(
        user=MemberUser(
            id=membership.user_id, email=member.email, name=member.name, is_platform_owner=member.is_platform_owner
        ),
        membership=MembershipSummary(
            id=membership.id,
            role=membership.role,
            role_source=member.role_source,
            created_at=membership.created_at,
            status=MembershipStatus.of(is_active=member.is_active),
        ),
    )
