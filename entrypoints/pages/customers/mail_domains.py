"""The mail domains of a customer, on the page of a setup link that a vendor made for it, and on the vendor's own page.

Both show the records that prove them, check them, and lead another domain to a connection.
"""

from typing import Final
from uuid import UUID

from core.customers import mail_domains
from core.errors import BadRequest, Conflict, Refusal
from core.ids import id_or_none
from core.organizations.access import Operation
from core.organizations.link_callers import Part, SetupLinkDead, serve
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import DomainRoutedAlready, RouteInForce, RouteUnknown, TooManyRoutes
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.setup_callers import MAIL_DOMAINS as BY_VENDOR
from entrypoints.pages.customers.setup_callers import REFUSES as REFUSES_TO_VENDOR
from entrypoints.pages.customers.setup_callers import opened_setup, path_of, require_change, setup_page
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    opened,
    part_page,
    require_own_form,
    require_part,
    sent,
)
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.admission.credentials import holding_setup_link, on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = setup_pages()
console_routes: Routes = console_pages()

MAIL_DOMAINS: Final = "/app/setup/parts/mail-domains"
DOMAIN_BY_VENDOR: Final = f"{BY_VENDOR}/:domain_id"
# Why a domain is not proved.
REASONS: Final = {"record_missing": marked("The TXT record was not found.")}
REFUSES: Final = (SetupLinkDead, FormRefused)


class CustomerDomainForm(ProtectedForm, kw_only=True):
    """A mail domain, and the connection by which its addresses sign in."""

    domain: str = ""
    provider_id: str = ""

    @property
    def connection_id(self) -> UUID:
        """The id of the connection; raise `BadRequest` for none."""
        provider_id = id_or_none(self.provider_id)
        if provider_id is None:
            raise BadRequest.of_field("provider_id", "Choose a connection.")
        return provider_id


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
    await require_part(call, Part.MAIL_DOMAIN)
    await sent(call, form, domain_routes.create, form.domain, form.connection_id, enforced=False)
    return done(MAIL_DOMAINS, "mail-domain-claimed")


@routes.post(f"{MAIL_DOMAINS}/:domain_id/verify", limits=LIMITS, refuses=(*REFUSES, RouteUnknown))
@holding_setup_link
async def verify_customer_domain(call: Call, domain_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Ask the name servers of a mail domain for the TXT record now."""
    require_own_form(call, form)
    await require_part(call, Part.MAIL_DOMAIN)
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
    await require_part(call, Part.MAIL_DOMAIN)
    try:
        await sent(call, form, domain_routes.delete, domain_id)
    except RouteInForce as refusal:
        return await show_mail_domain_setup(call, refusal=refusal)
    return done(MAIL_DOMAINS, "mail-domain-removed")


@console_routes.get(BY_VENDOR, refuses=REFUSES_TO_VENDOR)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_mail_domains(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: CustomerDomainForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the mail domains of a customer, each with the record that proves it and when it was looked for."""
    place, found = await opened_setup(
        call, path_of(org_slug, service_slug, customer_id), "mail-domains", mail_domains.show_all
    )
    return setup_page(
        call,
        "customers/mail_domains_by_vendor.html",
        place,
        program=Program(
            "mail_domains_of_customers_create_customer_domain",
            org_slug,
            service_slug,
            customer_id,
            body={"domain": "globex.example", "provider_id": found.connections[0][0] if found.connections else "…"},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        domains=found.domains,
        connections=found.connections,
        names=dict(found.connections),
        reasons=REASONS,
        typed=form or CustomerDomainForm(),
    )


@console_routes.post(BY_VENDOR, refuses=(*REFUSES_TO_VENDOR, BadRequest, DomainRoutedAlready, TooManyRoutes))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_mail_domains, BadRequest, DomainRoutedAlready)
async def claim_customer_mail_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerDomainForm
) -> PageOrRedirect:
    """Claim a mail domain for a customer; programs use `POST …/customers/:customer_id/mail-domains`."""
    await require_change(call, org_slug, service_slug, customer_id)
    path = path_of(org_slug, service_slug, customer_id)
    await call.transact(mail_domains.create, path, form.domain, form.connection_id)
    return after(call.request.path, "mail-domain-claimed")


@console_routes.post(f"{DOMAIN_BY_VENDOR}/verify", refuses=(*REFUSES_TO_VENDOR, BadRequest, RouteUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_mail_domains, BadRequest)
async def verify_customer_mail_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, domain_id: UUID
) -> PageOrRedirect:
    """Ask the name servers for the TXT record now; programs use `POST …/mail-domains/:domain_id/verify`."""
    await require_change(call, org_slug, service_slug, customer_id)
    path = path_of(org_slug, service_slug, customer_id)
    claim = await call.read(mail_domains.find_to_verify, path, domain_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    await call.transact(mail_domains.verify, path, domain_id, records)
    return after(_above(call), "mail-domain-verified")


@console_routes.post(f"{DOMAIN_BY_VENDOR}/remove", refuses=(*REFUSES_TO_VENDOR, RouteUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def remove_customer_mail_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, domain_id: UUID
) -> PageOrRedirect:
    """Give a mail domain of a customer up; programs use `DELETE …/mail-domains/:domain_id`."""
    await call.transact(mail_domains.delete, path_of(org_slug, service_slug, customer_id), domain_id)
    return after(_above(call), "mail-domain-removed")


def _above(call: Call) -> str:
    """Return the path of the page whose domain a form is about."""
    return call.request.path.rsplit("/", 2)[0]
