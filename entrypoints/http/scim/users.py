"""The users of an organization, as its directory provisions them."""

from functools import partial
from typing import Annotated
from uuid import UUID

from core.limits import LARGE_BODY_BYTES_MAX
from core.scim import log, user_changes, users
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
    UserExists,
    VersionOutdated,
)
from core.scim.user_changes import AddressNotYours
from core.scim.user_patches import UserValues, boolean, email_in
from core.scim.users import DirectoryUser
from entrypoints.http.scim.dialect import SCIM, attempt_of, log_refusal
from entrypoints.http.scim.resources import (
    ListQuery,
    ScimPatch,
    ScimUser,
    ScimUserInput,
    ScimUserList,
    Selection,
    etag,
    is_unchanged,
    user_list,
    user_resource,
    versions_of,
)
from entrypoints.web.serving import long_work
from entrypoints.web.serving.admission.credentials import scim_token
from entrypoints.web.serving.answering.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM users",
    "SCIM 2.0 (RFC 7644): the directory of an organization creates, changes, deactivates and removes its members.",
    dialect=SCIM,
)

_CHANGES = (
    *(ResourceUnknown, InvalidValue, UserExists, AddressNotYours, MemberProtected, VersionOutdated),
    *(InvalidSyntax,),
)


@routes.get("/scim/v2/Users", refuses=(InvalidFilter,))
@scim_token(log_refusal)
async def list_users(call: Call, query: ListQuery) -> ScimUserList:
    """List the users of the organization, the oldest membership first.

    They can be filtered by `userName`, `externalId`, `id`, `active`, `displayName`, `emails.value`, `meta.created` and
    `meta.lastModified`, with every operator of the standard, `and`, `or`, `not` and brackets.
    """
    page = await call.step(users.list_page, filter_text=query.filter, start=query.start_index, count=query.count)
    base_url = call.installation.settings.base_url
    found = [user_resource(user, base_url) for user in page.users]
    return query.of(user_list(found, total=page.total, start=query.start_index))


@routes.get("/scim/v2/Users/:user_id", refuses=(ResourceUnknown,))
@scim_token(log_refusal)
async def show_user(call: Call, user_id: UUID, query: Selection) -> ScimUser | Annotated[None, AnswerStatus(304)]:
    """Show a user of the organization."""
    user = await call.step(users.show, user_id)
    if is_unchanged(call, user.version):
        call.status = 304
        call.headers["ETag"] = etag(user.version)
        return None
    return _answered(call, user, query)


@routes.post(
    "/scim/v2/Users",
    status=201,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(InvalidValue, InvalidSyntax, UserExists, MembersFull, MemberProtected),
)
@scim_token(log_refusal)
async def create_user(call: Call, body: ScimUserInput, query: Selection) -> ScimUser:
    """Make a person a member of the organization with the role member, and mail them that they are welcome.

    Without an account of the address one is created, without a password. An account that exists is added.
    """
    call.subject = body.user_name
    change = partial(user_changes.create, values=_values(body))
    user = await call.transact(log.perform, attempt_of(call), 201, change)
    answer = user_resource(user, call.installation.settings.base_url)
    call.headers["Location"] = answer.meta.location
    return _answered(call, user, query)


@routes.put("/scim/v2/Users/:user_id", body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=_CHANGES)
@scim_token(log_refusal)
async def replace_user(call: Call, user_id: UUID, body: ScimUserInput, query: Selection) -> ScimUser:
    """Replace a user. What equals the present user changes nothing.

    Without `active`, an inactive user stays inactive.
    """
    call.subject = body.user_name
    change = partial(user_changes.replace, known_id=user_id, values=_values(body), versions=versions_of(call))
    user = await call.transact(log.perform, attempt_of(call), 200, change)
    return _answered(call, user, query)


@routes.patch(
    "/scim/v2/Users/:user_id",
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    refuses=(*_CHANGES, InvalidPath, NoTarget, ReadOnlyAttribute, TooMany),
)
@scim_token(log_refusal)
async def patch_user(call: Call, user_id: UUID, body: ScimPatch, query: Selection) -> ScimUser:
    """Change attributes of a user. Setting `active` to false ends the user's sessions, and takes their access."""
    operations = await long_work.run(call, body.path_characters, body.as_operations)
    change = partial(user_changes.patch, known_id=user_id, operations=operations, versions=versions_of(call))
    user = await call.transact(log.perform, attempt_of(call), 200, change)
    return _answered(call, user, query)


@routes.delete("/scim/v2/Users/:user_id", status=204, refuses=(ResourceUnknown, MemberProtected, VersionOutdated))
@scim_token(log_refusal)
async def remove_user(call: Call, user_id: UUID) -> None:
    """Delete a user whose account belongs to this organization alone; end the membership of any other."""
    change = partial(user_changes.remove, known_id=user_id, versions=versions_of(call))
    await call.transact(log.perform, attempt_of(call), 204, change)


def _answered(call: Call, user: DirectoryUser, selection: Selection) -> ScimUser:
    call.headers["ETag"] = etag(user.version)
    return selection.of(user_resource(user, call.installation.settings.base_url))


def _values(body: ScimUserInput) -> UserValues:
    name = body.name
    email = email_in([{"value": one.value, "type": one.type, "primary": one.primary} for one in body.emails or []])
    return UserValues(
        user_name=body.user_name,
        email=email.address if email is not None else None,
        is_primary=email.is_primary if email is not None else True,
        external_id=body.external_id,
        formatted_name=name.formatted if name is not None else None,
        given_name=name.given_name if name is not None else None,
        family_name=name.family_name if name is not None else None,
        display_name=body.display_name,
        is_active=boolean("active", body.active) if body.active is not None else None,
    )
