"""Domain routes: by which connection the addresses of a mail domain sign in."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved, DomainVerifiedElsewhere
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import DomainRoute, DomainRoutedAlready, RouteUnknown, TooManyRoutes
from core.sign_in.upstream.revocation import moves
from core.sign_in.upstream.revocation.moves import MoveEffects
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "domain routes",
    "Mail domains of an organization, and the connection by which their addresses sign in. The TXT record `txt_name`"
    " with the value `txt_value` proves that the domain is the organization's. An enforced route refuses every other"
    " way to sign in, except to the organization's owner and to platform owners.",
)


class RouteCreation(msgspec.Struct, kw_only=True):
    """A mail domain, and the connection by which its addresses sign in."""

    domain: str
    provider_id: UUID
    enforced: bool = False


class RouteChange(msgspec.Struct, kw_only=True):
    """The fields to change; omitted fields keep their values."""

    provider_id: UUID | None = None
    enforced: bool | None = None


class RouteChangeQuery(Query, kw_only=True):
    """Whether the change is made, or only its effects are said."""

    dry_run: Annotated[bool, msgspec.Meta(description="Change nothing, and answer what would become of people.")] = (
        False
    )


class RouteEffects(Record, of=MoveEffects):
    """What leading the domain to a connection does with the people of the organization who have an address in it.

    `linked` people sign in by it as before. `at_once` are linked at their next sign-in without a code, because they
    have never signed in or their account is the organization's own, and `by_code` type one mailed code then. `kept_out`
    are deactivated, or their address was taken back.
    """


class RouteList(msgspec.Struct, kw_only=True):
    """All routes of the organization, by their domains."""

    domain_routes: list[DomainRoute]
    total: int


@routes.get("/api/organizations/:slug/domain-routes")
@in_organization(Operation.DOMAIN_ROUTES_READ)
async def list_domain_routes(call: Call, slug: str) -> RouteList:
    """List the routes by their domains."""
    found = list(await call.read(domain_routes.list_all, slug))
    return RouteList(domain_routes=found, total=len(found))


@routes.post("/api/organizations/:slug/domain-routes", refuses=(DomainRoutedAlready, TooManyRoutes))
@in_organization(Operation.DOMAIN_ROUTES_CHANGE)
async def create_domain_route(call: Call, slug: str, body: RouteCreation) -> DomainRoute:
    """Claim a mail domain. It routes nothing before it was verified."""
    return await call.transact(domain_routes.create, slug, body.domain, body.provider_id, enforced=body.enforced)


@routes.patch("/api/organizations/:slug/domain-routes/:route_id", refuses=(RouteUnknown, DomainUnproved))
@in_organization(Operation.DOMAIN_ROUTES_CHANGE)
async def change_domain_route(
    call: Call, slug: str, route_id: UUID, query: RouteChangeQuery, body: RouteChange
) -> DomainRoute | RouteEffects:
    """Change the connection of a route, or whether it is enforced.

    People who have an account keep it: each types one mailed code at the first sign-in by the new connection, except
    people whose account is the organization's own. With `dry_run=true` nothing changes, and the answer says for how
    many people each of this holds, once the domain is verified.
    """
    if query.dry_run:
        return RouteEffects.of(await call.read(moves.preview_route, slug, route_id, body.provider_id))
    return await call.transact(
        domain_routes.change, slug, route_id, connection_id=body.provider_id, enforced=body.enforced
    )


@routes.delete("/api/organizations/:slug/domain-routes/:route_id", status=204, refuses=(RouteUnknown,))
@in_organization(Operation.DOMAIN_ROUTES_CHANGE)
async def delete_domain_route(call: Call, slug: str, route_id: UUID) -> None:
    """Delete a route, and give the claim to its domain up."""
    await call.transact(domain_routes.delete, slug, route_id)


@routes.post(
    "/api/organizations/:slug/domain-routes/:route_id/verify",
    refuses=(RouteUnknown, DomainUnproved, DomainUnanswered, DomainVerifiedElsewhere),
)
@in_organization(Operation.DOMAIN_ROUTES_CHANGE)
async def verify_domain_route(call: Call, slug: str, route_id: UUID) -> DomainRoute:
    """Ask the name servers of the domain for the TXT record now."""
    claim = await call.read(domain_routes.find_to_verify, slug, route_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    return await call.transact(domain_routes.verify, slug, route_id, records)
