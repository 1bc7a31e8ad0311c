"""The members of one organization, for platform owners and support."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.limits import COUNTED_MAX, EMAIL_CHARACTERS_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX
from core.organizations.found_members import ListedMember
from core.platform import members
from core.platform.organizations import OrganizationUnknown
from core.positions import position_of
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform organizations", "Managing all organizations and their tiers, for platform owners.")


class OrganizationMembersQuery(msgspec.Struct, kw_only=True):
    """A part of the address, and the part of the list."""

    search: Annotated[
        str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX, description="Finds members whose address contains it.")
    ] = ""
    after: Annotated[
        str, msgspec.Meta(max_length=100, description="Where the list goes on: `next` of the answer before.")
    ] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=PAGE_ITEMS_MAX)] = PAGE_ITEMS_DEFAULT


class OrganizationMemberItem(Record, of=ListedMember, without=("id", "source", "role_source", "role_group")):
    """A member of an organization; null is what the organization is not told before the person has confirmed."""

    created_at: Annotated[datetime, msgspec.Meta(description="When the membership began.")]
    is_confirmed: Annotated[bool, msgspec.Meta(description="Whether the person has confirmed the membership.")]
    is_suspended: Annotated[bool, msgspec.Meta(description="Whether the directory has deactivated the membership.")]
    has_second_factor: Annotated[bool | None, msgspec.Meta(description="Whether the account has a second factor.")]
    last_sign_in_at: Annotated[
        datetime | None, msgspec.Meta(description="The last sign-in to this organization; null for none that is known.")
    ]


class OrganizationMemberList(msgspec.Struct, kw_only=True):
    """A part of the members, their number, and where the list continues."""

    members: list[OrganizationMemberItem]
    total: Annotated[
        int,
        msgspec.Meta(
            description=f"How many there are: exactly up to {COUNTED_MAX}, and one more where there are more."
        ),
    ]
    next: Annotated[str | None, msgspec.Meta(description="The `after` of the next part; null at the end.")]


@routes.get("/api/platform/organizations/:id/members", refuses=(OrganizationUnknown,))
@platform_support
async def list_organization_members(
    call: Call,
    id: UUID,  # noqa: A002 - the path's parameter
    query: OrganizationMembersQuery,
) -> OrganizationMemberList:
    """List the members of an organization, the oldest membership first.

    Support finds no platform owner, and what it searches for is recorded.
    """
    found = await call.transact(
        members.search, id, search=query.search, after=position_of(query.after), limit=query.limit
    )
    return OrganizationMemberList(
        members=[OrganizationMemberItem.of(one) for one in found.members.found],
        total=found.members.total,
        next=str(found.members.next) if found.members.next is not None else None,
    )
