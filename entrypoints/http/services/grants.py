"""Grants: members manage or see single services beyond what their roles allow."""

from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.organizations.members import MemberUnknown
from core.organizations.relations import ServiceRelation
from core.services import grants as service_grants
from core.services.grants import GrantUnknown, ServiceGrant
from core.services.services import ServiceUnknown
from entrypoints.http.organizations.members import PageInfo
from entrypoints.web.input.decoding import Paged
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "service grants",
    "What members may do with single services beyond their roles: a `manager` manages the service, a `viewer` sees it."
    " A grant ends with the membership.",
)


class ServiceGrantUpdate(msgspec.Struct, kw_only=True):
    """The relation of the member to the service."""

    relation: ServiceRelation


class ServiceGrantList(msgspec.Struct, kw_only=True):
    """A page of grants on one service."""

    grants: list[ServiceGrant]
    pagination: PageInfo


@routes.get("/api/organizations/:org_slug/services/:service_slug/grants", refuses=(ServiceUnknown,))
@in_organization(Operation.SERVICE_GRANTS_CHANGE)
async def list_grants(call: Call, org_slug: str, service_slug: str, query: Paged) -> ServiceGrantList:
    """List the grants on a service, the oldest first."""
    found = await call.read(service_grants.list_page, org_slug, service_slug, page=query.page, limit=query.limit)
    return ServiceGrantList(
        grants=list(found.grants), pagination=PageInfo(page=query.page, limit=query.limit, total=found.total)
    )


@routes.put(
    "/api/organizations/:org_slug/services/:service_slug/grants/:user_id", refuses=(ServiceUnknown, MemberUnknown)
)
@in_organization(Operation.SERVICE_GRANTS_CHANGE)
async def grant(call: Call, org_slug: str, service_slug: str, user_id: UUID, body: ServiceGrantUpdate) -> ServiceGrant:
    """Make a member a manager or viewer of a service; this replaces an earlier grant."""
    return await call.transact(service_grants.grant, org_slug, service_slug, user_id, body.relation)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/grants/:user_id",
    status=204,
    refuses=(ServiceUnknown, GrantUnknown),
)
@in_organization(Operation.SERVICE_GRANTS_CHANGE)
async def revoke_grant(call: Call, org_slug: str, service_slug: str, user_id: UUID) -> None:
    """Revoke the grant of a member on a service; the permissions of their role stay."""
    await call.transact(service_grants.revoke, org_slug, service_slug, user_id)
