"""The page of a setup link that a vendor made for a customer: mail domains, and the connections that sign them in."""

from typing import Final
from uuid import UUID

from core.customers import mail_domains
from core.errors import BadRequest, Conflict, Refusal
from core.ids import id_or_none
from core.organizations.access import Operation
from core.organizations.link_callers import Part, SetupLinkDead, serve
from core.sign_in.upstream import domain_routes
from core.sign_in.upstream.domain_routes import RouteInForce, RouteUnknown
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    opened,
    part_page,
    require_own_form,
    sent,
)
from entrypoints.web.serving.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import holding_setup_link

routes = setup_pages()

MAIL_DOMAINS: Final = "/app/setup/parts/mail-domains"
REFUSES: Final = (SetupLinkDead, FormRefused)


class CustomerDomainForm(ProtectedForm, kw_only=True):
    """A mail domain, and the connection by which its addresses sign in."""

    domain: str = ""
    provider_id: str = ""


@routes.get(MAIL_DOMAINS, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_mail_domain_setup(
    call: Call,
    *,
    query: PartQuery | None = None,
    form: CustomerDomainForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the mail domains of a customer, with the records that prove them, and a form for another one."""
    setup, shown = await opened(call, Operation.DOMAIN_ROUTES_READ, mail_domains.show_setup)
    return await part_page(
        call,
        "customers/mail_domains.html",
        setup,
        Part.MAIL_DOMAIN,
        query=query,
        refusal=refusal,
        domains=shown.domains,
        connections=shown.connections,
        names=dict(shown.connections),
        form=form or CustomerDomainForm(),
    )


@routes.post(MAIL_DOMAINS, limits=LIMITS, refuses=(*REFUSES, BadRequest, Conflict))
@holding_setup_link
@shows_again(show_mail_domain_setup, BadRequest, Conflict)
async def claim_customer_domain(call: Call, form: CustomerDomainForm) -> PageOrRedirect:
    """Claim a mail domain, which routes nothing before it is verified."""
    provider_id = id_or_none(form.provider_id)
    if provider_id is None:
        raise BadRequest.of_field("provider_id", "Choose a connection.")
    await sent(call, form, domain_routes.create, form.domain, provider_id, enforced=False)
    return done(MAIL_DOMAINS, "mail-domain-claimed")


@routes.post(f"{MAIL_DOMAINS}/:domain_id/verify", limits=LIMITS, refuses=(*REFUSES, RouteUnknown))
@holding_setup_link
async def verify_customer_domain(call: Call, domain_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Ask the name servers of a mail domain for the TXT record now."""
    require_own_form(call, form)
    claim = await call.read(serve, domain_routes.find_to_verify, domain_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await sent(call, form, domain_routes.verify, domain_id, records)
    except BadRequest as refusal:
        return await show_mail_domain_setup(call, refusal=refusal)
    return done(MAIL_DOMAINS, "mail-domain-verified")


@routes.post(f"{MAIL_DOMAINS}/:domain_id/delete", limits=LIMITS, refuses=(*REFUSES, RouteUnknown, RouteInForce))
@holding_setup_link
async def delete_customer_domain(call: Call, domain_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Give up a mail domain that is not verified yet, such as a mistyped one."""
    try:
        await sent(call, form, domain_routes.delete, domain_id)
    except RouteInForce as refusal:
        return await show_mail_domain_setup(call, refusal=refusal)
    return done(MAIL_DOMAINS, "mail-domain-removed")
