"""The custom domain of an organization."""

import msgspec

from core.organizations.access import Operation
from core.organizations.settings import domain
from core.organizations.settings.domain import (
    CustomDomain,
    DomainUnanswered,
    DomainUnproved,
    DomainUnset,
    DomainVerifiedElsewhere,
)
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "custom domain",
    "A domain of an organization under which its sign-in works. The TXT record `txt_name` with the value `txt_value`"
    " proves that the domain is the organization's. A proof that disappears is `failing`, and ends the domain after"
    " seven days.",
)


class CustomDomainUpdate(msgspec.Struct, kw_only=True):
    """The domain to claim."""

    domain: str


@routes.get("/api/organizations/:slug/domain", refuses=(DomainUnset,))
@in_organization(Operation.DOMAIN_READ)
async def show_domain(call: Call, slug: str) -> CustomDomain:
    """Show the domain, its state, and the TXT record that proves it."""
    return await call.read(domain.show, slug)


@routes.put("/api/organizations/:slug/domain")
@in_organization(Operation.DOMAIN_CHANGE)
async def set_domain(call: Call, slug: str, body: CustomDomainUpdate) -> CustomDomain:
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
