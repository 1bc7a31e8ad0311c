"""The organization as a group, whose members its directory sets, or the groups that the directory sends."""

from functools import partial
from typing import Annotated
from uuid import UUID

from core.limits import GROUP_BODY_BYTES_MAX
from core.scim import groups, log
from core.scim.directory_groups import GroupExists, GroupValues, TooManyAuthorities, TooManyGroups
from core.scim.group_resources import Group
from core.scim.refusals import (
    GroupCannotBeDeleted,
    InvalidFilter,
    InvalidPath,
    InvalidSyntax,
    InvalidValue,
    MembersFull,
    NoTarget,
    ReadOnlyAttribute,
    ResourceUnknown,
    TooMany,
    TooManyMembersNamed,
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
    Selection,
    etag,
    group_resource,
    is_unchanged,
    member_form,
    versions_of,
)
from entrypoints.web.serving import long_work
from entrypoints.web.serving.admission.credentials import scim_token
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM groups",
    "SCIM 2.0 (RFC 7644): an organization is one group, and its members are the members of the group. With a token"
    " whose `groups` is `directory` they are instead groups that the directory creates among the members; rules can"
    " give roles to them.",
    dialect=SCIM,
)

_CHANGES = (
    *(ResourceUnknown, InvalidValue, InvalidSyntax, MembersFull, TooMany, VersionOutdated),
    *(GroupExists, TooManyMembersNamed, TooManyAuthorities),
)


@routes.get("/scim/v2/Groups", refuses=(InvalidFilter, TooMany))
@scim_token(log_refusal)
async def list_groups(call: Call, query: ListQuery) -> ScimGroupList:
    """List the groups of the organization: itself, unless the filter selects another name, id or member.

    With a token that manages groups, list the groups of the directory, the oldest first. They are filtered by
    `displayName`, `externalId`, `id` and `members.value`, each by `eq`, and several by `and`. Send
    `excludedAttributes=members` where groups are large.
    """
    base_url = call.installation.settings.base_url
    page = await call.step(
        groups.list_page,
        filter_text=query.filter,
        start=query.start_index,
        count=query.count,
        member_form=member_form(query, base_url) if query.count > 0 else None,
    )
    shown = [group_resource(group, base_url) for group in page.groups]
    return query.of(
        ScimGroupList(
            schemas=[LIST_SCHEMA],
            total_results=page.total,
            start_index=query.start_index,
            items_per_page=len(shown),
            resources=shown,
        )
    )


@routes.get("/scim/v2/Groups/:group_id", refuses=(ResourceUnknown, TooMany))
@scim_token(log_refusal)
async def show_group(call: Call, group_id: UUID, query: Selection) -> ScimGroup | Annotated[None, AnswerStatus(304)]:
    """Show a group with all its members: the organization, or with a token that manages groups one of those."""
    group = await call.step(groups.show, group_id, member_form=_form(call, query))
    if is_unchanged(call, group.version):
        call.status = 304
        call.headers["ETag"] = etag(group.version)
        return None
    return _answered(call, group, query)


@routes.post(
    "/scim/v2/Groups",
    status=201,
    body_bytes_max=GROUP_BODY_BYTES_MAX,
    refuses=(
        *(Unsupported, InvalidValue, InvalidSyntax, GroupExists),
        *(TooManyGroups, TooManyMembersNamed, TooManyAuthorities),
    ),
)
@scim_token(log_refusal)
async def create_group(call: Call, body: ScimGroupInput, query: Selection) -> ScimGroup:
    """Create a group of the directory with these members, with a token that manages groups.

    Otherwise it is refused: organizations are created by their owners.
    """
    change = partial(groups.create, values=_values(body), member_form=_form(call, query))
    group = await call.transact(log.perform, attempt_of(call), 201, change)
    call.headers["Location"] = group_resource(group, call.installation.settings.base_url).meta.location
    return _answered(call, group, query)


@routes.put("/scim/v2/Groups/:group_id", body_bytes_max=GROUP_BODY_BYTES_MAX, refuses=_CHANGES)
@scim_token(log_refusal)
async def replace_group(call: Call, group_id: UUID, body: ScimGroupInput, query: Selection) -> ScimGroup:
    """Replace the members: new ones get the role member, others keep theirs, absent ones are removed.

    The owner stays, and so do members whose role the token cannot take: they are listed in
    `urn:gatehouse:scim:kept`. The name of the group is not changed. With a token that manages groups, replace the name,
    the id in the directory and the members of a group; the members of the organization stay the same.
    """
    change = partial(
        groups.replace,
        group_id=group_id,
        values=_values(body),
        member_form=_form(call, query),
        versions=versions_of(call),
    )
    group = await call.transact(log.perform, attempt_of(call), 200, change)
    return _answered(call, group, query)


@routes.patch(
    "/scim/v2/Groups/:group_id",
    body_bytes_max=GROUP_BODY_BYTES_MAX,
    refuses=(*_CHANGES, InvalidPath, NoTarget, ReadOnlyAttribute),
)
@scim_token(log_refusal)
async def patch_group(call: Call, group_id: UUID, body: ScimPatch, query: Selection) -> ScimGroup:
    """Add or remove members; with a token that manages groups, rename the group, too.

    Who is taken out of the organization and stays is listed as by PUT.
    """
    operations = await long_work.run(call, body.path_characters, body.as_operations)
    change = partial(
        groups.patch,
        group_id=group_id,
        operations=operations,
        member_form=_form(call, query),
        versions=versions_of(call),
    )
    group = await call.transact(log.perform, attempt_of(call), 200, change)
    return _answered(call, group, query)


@routes.delete(
    "/scim/v2/Groups/:group_id", status=204, refuses=(GroupCannotBeDeleted, ResourceUnknown, VersionOutdated)
)
@scim_token(log_refusal)
async def delete_group(call: Call, group_id: UUID) -> None:
    """Delete a group of the directory with its rules; its members stay members of the organization.

    The organization is not deleted: its owner does that.
    """
    change = partial(groups.delete, group_id=group_id, versions=versions_of(call))
    await call.transact(log.perform, attempt_of(call), 204, change)


def _values(body: ScimGroupInput) -> GroupValues:
    return GroupValues(display_name=body.display_name or "", external_id=body.external_id, member_ids=body.member_ids)


def _form(call: Call, selection: Selection) -> str | None:
    return member_form(selection, call.installation.settings.base_url)


def _answered(call: Call, group: Group, selection: Selection) -> ScimGroup:
    call.headers["ETag"] = etag(group.version)
    return selection.of(group_resource(group, call.installation.settings.base_url))
