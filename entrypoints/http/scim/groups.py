"""The organization as a group, whose members its directory sets."""

from functools import partial
from typing import Annotated
from uuid import UUID

from core.errors import Forbidden
from core.limits import LARGE_BODY_BYTES_MAX
from core.scim import groups, log, tokens
from core.scim.group_patches import id_of
from core.scim.groups import Group
from core.scim.refusals import (
    InvalidFilter,
    InvalidPath,
    InvalidSyntax,
    InvalidValue,
    MemberProtected,
    MembersFull,
    NoTarget,
    ReadOnlyAttribute,
    ResourceUnknown,
    TooMany,
    Unsupported,
    VersionOutdated,
)
from entrypoints.http.scim.dialect import LIST_SCHEMA, SCIM, attempt_of, log_refusal
from entrypoints.http.scim.resources import (
    ListQuery,
    ScimGroup,
    ScimGroupInput,
    ScimGroupList,
    ScimPatch,
    etag,
    group_resource,
    is_unchanged,
    versions_of,
)
from entrypoints.http.scim.selection import Selection
from entrypoints.web.serving.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import scim_token
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM groups",
    "SCIM 2.0 (RFC 7644): an organization is one group, and its members are the members of the group.",
    dialect=SCIM,
)

_CHANGES = (ResourceUnknown, InvalidValue, InvalidSyntax, MembersFull, TooMany, VersionOutdated)
_MEMBERS = "members"


class GroupCannotBeDeleted(Forbidden):
    """A directory cannot delete an organization."""

    default_message = "A group is an organization, which cannot be deleted by SCIM. Its owner can delete it."


@routes.get("/scim/v2/Groups", refuses=(InvalidFilter, TooMany))
@scim_token(log_refusal)
async def list_groups(call: Call, query: ListQuery) -> ScimGroupList:
    """List the groups of the organization: itself, unless the filter selects another name, id or member."""
    found = await call.step(
        groups.list_all, filter_text=query.filter, shows_members=query.has(_MEMBERS) and query.count > 0
    )
    base_url = call.installation.settings.base_url
    shown = [group_resource(group, base_url) for group in found][query.start_index - 1 :][: query.count]
    return query.of(
        ScimGroupList(
            schemas=[LIST_SCHEMA],
            total_results=len(found),
            start_index=query.start_index,
            items_per_page=len(shown),
            resources=shown,
        )
    )


@routes.get("/scim/v2/Groups/:group_id", refuses=(ResourceUnknown, TooMany))
@scim_token(log_refusal)
async def show_group(call: Call, group_id: UUID, query: Selection) -> ScimGroup | Annotated[None, AnswerStatus(304)]:
    """Show the organization with all its members."""
    group = await call.step(groups.show, group_id, shows_members=query.has(_MEMBERS))
    if is_unchanged(call, group.version):
        call.status = 304
        call.headers["ETag"] = etag(group.version)
        return None
    return _answered(call, group, query)


@routes.post("/scim/v2/Groups", refuses=(Unsupported,))
@scim_token(log_refusal)
async def create_group(call: Call) -> None:
    """Refuse to create a group: organizations are created by their owners."""
    await call.step(tokens.authorize)
    raise Unsupported("Groups are organizations, which cannot be created by SCIM. Create them in the web interface.")


@routes.put("/scim/v2/Groups/:group_id", body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=_CHANGES)
@scim_token(log_refusal)
async def replace_group(call: Call, group_id: UUID, body: ScimGroupInput, query: Selection) -> ScimGroup:
    """Replace the members: new ones get the role member, others keep theirs, absent ones are removed.

    The owner and the last admin stay. The name of the group is not changed.
    """
    member_ids = {id_of(member.value) for member in body.members or []}
    change = partial(groups.replace, group_id=group_id, member_ids=member_ids, versions=versions_of(call))
    group = await call.transact(log.perform, attempt_of(call), 200, change)
    return _answered(call, group, query)


@routes.patch(
    "/scim/v2/Groups/:group_id",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(*_CHANGES, InvalidPath, NoTarget, ReadOnlyAttribute, MemberProtected),
)
@scim_token(log_refusal)
async def patch_group(call: Call, group_id: UUID, body: ScimPatch, query: Selection) -> ScimGroup:
    """Add or remove members."""
    change = partial(groups.patch, group_id=group_id, operations=body.as_operations(), versions=versions_of(call))
    group = await call.transact(log.perform, attempt_of(call), 200, change)
    return _answered(call, group, query)


@routes.delete("/scim/v2/Groups/:group_id", status=204, refuses=(GroupCannotBeDeleted, ResourceUnknown))
@scim_token(log_refusal)
async def delete_group(call: Call, group_id: UUID) -> None:
    """Refuse to delete a group: an organization is deleted by its owner."""
    await call.step(groups.show, group_id, shows_members=False)
    raise GroupCannotBeDeleted


def _answered(call: Call, group: Group, selection: Selection) -> ScimGroup:
    call.headers["ETag"] = etag(group.version)
    return selection.of(group_resource(group, call.installation.settings.base_url))
