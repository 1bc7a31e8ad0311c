"""The custom domain of an organization (decisions 13.3)."""

from typing import Annotated, Final

import msgspec
from quart import Response

from core.errors import NotFound
from core.organizations.access import Operation
from core.organizations.settings import domain
from core.organizations.settings.domain import (
    CustomDomain,
    DomainUnanswered,
    DomainUnproved,
    DomainUnset,
    DomainVerifiedElsewhere,
)
from entrypoints.web import hosts
from entrypoints.web.answers import Media
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization, public
from entrypoints.web.decoding import Query
from entrypoints.web.routes import Routes

routes = Routes(
    "custom domain",
    "A domain of an organization under which its sign-in works. The TXT record `txt_name` with the value `txt_value`"
    " proves that the domain is the organization's. A proof that disappears is `failing`, and ends the domain after"
    " seven days.",
)

TEXT: Final = "text/plain"


class DomainBody(msgspec.Struct, kw_only=True):
    """The domain to claim."""

    domain: str


class TlsQuestion(Query, kw_only=True):
    """The name for which a proxy wants a certificate."""

    domain: Annotated[str, msgspec.Meta(description="The name of the host.")]


@routes.get("/api/organizations/:slug/domain", refuses=(DomainUnset,))
@in_organization(Operation.DOMAIN_READ)
async def show_domain(call: Call, slug: str) -> CustomDomain:
    """Show the domain, its state, and the TXT record that proves it."""
    return await call.read(domain.show, slug)


@routes.put("/api/organizations/:slug/domain")
@in_organization(Operation.DOMAIN_CHANGE)
async def set_domain(call: Call, slug: str, body: DomainBody) -> CustomDomain:
    """Claim a domain in place of the one before. It works after it was verified."""
    return await call.transact(
        domain.set_domain, slug, body.domain, own_names=hosts.own_names(call.installation.settings)
    )


@routes.delete("/api/organizations/:slug/domain", status=204, refuses=(DomainUnset,))
@in_organization(Operation.DOMAIN_CHANGE)
async def delete_domain(call: Call, slug: str) -> None:
    """Give the domain up. Sessions and passkeys that were made there end with it."""
    await call.transact(domain.delete, slug)


@routes.post(
    "/api/organizations/:slug/domain/verify",
    refuses=(DomainUnset, DomainUnproved, DomainUnanswered, DomainVerifiedElsewhere),
)
@in_organization(Operation.DOMAIN_CHANGE)
async def verify_domain(call: Call, slug: str) -> CustomDomain:
    """Ask the name servers of the domain for the TXT record now."""
    claim = await call.read(domain.find_to_verify, slug)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    return await call.transact(domain.verify, slug, claim, records)


@routes.get("/internal/tls-allowed", is_operational=True, refuses=(NotFound,))
@public
async def is_tls_allowed(call: Call, query: TlsQuestion) -> Annotated[Response, Media(TEXT)]:
    """Return 200 when a proxy may get a certificate for this name: our own, or a custom domain that is in force."""
    if not await hosts.is_served(call, query.domain):
        raise NotFound
    return Response("allowed\n", content_type=f"{TEXT}; charset=utf-8")
