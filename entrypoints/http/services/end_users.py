"""Listing the end users of an organization, and ending their sessions."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.limits import EMAIL_CHARACTERS_MAX
from core.metadata import MetadataPatch
from core.organizations.access import Operation
from core.services import end_users, user_metadata
from core.services.end_users import EndUser, EndUserDetails, EndUserUnknown
from core.services.services import ServiceUnknown
from core.services.user_metadata import ServiceUser, ServiceUserUnknown
from entrypoints.http.organizations.members import PageInfo
from entrypoints.web.input.decoding import Paged
from entrypoints.web.input.metadata import MetadataFields, patch_of
from entrypoints.web.serving.admission.credentials import in_organization, on_service
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "end users",
    "The people who sign in to the services of an organization. The people who manage it are its members.",
)


class EndUsersQuery(Paged, kw_only=True):
    """Filters: a part of the email address in `search`, and a service."""

    search: Annotated[str, msgspec.Meta(max_length=EMAIL_CHARACTERS_MAX)] | None = None
    service_id: UUID | None = None


class EndUserList(msgspec.Struct, kw_only=True):
    """A page of end users."""

    users: list[EndUser]
    pagination: PageInfo


class ServiceUserMetadataChange(msgspec.Struct, kw_only=True):
    """What to note about the user."""

    metadata: MetadataFields | msgspec.UnsetType = msgspec.UNSET


class RevokedSessions(msgspec.Struct, kw_only=True):
    """A message for people, and how many sessions were ended."""

    message: str
    sessions_revoked: int


@routes.get("/api/organizations/:slug/users")
@in_organization(Operation.END_USERS_READ)
async def list_end_users(call: Call, slug: str, query: EndUsersQuery) -> EndUserList:
    """List the end users, the newest accounts first."""
    found = await call.read(
        end_users.list_page,
        slug,
        search=query.search,
        service_id=query.service_id,
        page=query.page,
        limit=query.limit,
    )
    pagination = PageInfo(page=query.page, limit=query.limit, total=found.total)
    return EndUserList(users=found.users, pagination=pagination)


@routes.get("/api/organizations/:slug/users/:user_id", refuses=(EndUserUnknown,))
@in_organization(Operation.END_USERS_READ)
async def show_end_user(call: Call, slug: str, user_id: UUID) -> EndUserDetails:
    """Show an end user: the services they use in this organization, and their sessions in it.

    If an API key added the user to a service, and your organization did not create the account, `email_verified` and
    `mfa_enabled` are false until they have signed in.
    """
    return await call.read(end_users.show, slug, user_id)


@routes.patch(
    "/api/organizations/:org_slug/services/:service_slug/users/:user_id", refuses=(ServiceUnknown, ServiceUserUnknown)
)
@on_service(Operation.SERVICE_USER_CHANGE)
async def change_service_user(
    call: Call, org_slug: str, service_slug: str, user_id: UUID, body: ServiceUserMetadataChange
) -> ServiceUser:
    """Change what a service notes about one of its users, people of customers who have signed in among them.

    The program of the service does the same with a key.
    """
    patch = patch_of(body.metadata) or MetadataPatch(names={})
    return await call.transact(user_metadata.change, org_slug, service_slug, user_id, patch)


@routes.delete("/api/organizations/:slug/users/:user_id/sessions", refuses=(EndUserUnknown,))
@in_organization(Operation.END_USERS_CHANGE)
async def end_sessions_of_end_user(call: Call, slug: str, user_id: UUID) -> RevokedSessions:
    """End all sessions that an end user has in this organization; others continue."""
    ended = await call.transact(end_users.end_sessions, slug, user_id)
    message = "There was no session to end." if not ended else "The sessions have ended. The user has to sign in again."
    return RevokedSessions(message=message, sessions_revoked=ended)
