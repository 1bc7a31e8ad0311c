"""The page of the mail domains that a vendor proves for a customer: the records, checking them, and another domain."""

from typing import Final
from uuid import UUID

from core.customers import mail_domains
from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.organizations.access import Operation
from core.sign_in.upstream.domain_routes import DomainRoutedAlready, RouteUnknown, TooManyRoutes
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.setup import MAIL_DOMAINS, REFUSES, opened_setup, path_of, setup_page
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import on_service_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

DOMAIN: Final = f"{MAIL_DOMAINS}/:domain_id"
# Why a domain is not proved.
REASONS: Final = {"record_missing": marked("The TXT record was not found.")}


class NewMailDomainForm(ProtectedForm, kw_only=True):
    """A mail domain, and the connection by which its addresses sign in."""

    domain: str = ""
    provider_id: str = ""


@routes.get(MAIL_DOMAINS, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_mail_domains(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: NewMailDomainForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the mail domains of a customer, each with the record that proves it and when it was looked for."""
    place, found = await opened_setup(
        call, path_of(org_slug, service_slug, customer_id), "mail-domains", mail_domains.show_all
    )
    return setup_page(
        call,
        "customers/setup_mail_domains.html",
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
        typed=form or NewMailDomainForm(),
    )


@routes.post(MAIL_DOMAINS, refuses=(*REFUSES, BadRequest, DomainRoutedAlready, TooManyRoutes))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_mail_domains, BadRequest, DomainRoutedAlready)
async def claim_customer_mail_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: NewMailDomainForm
) -> PageOrRedirect:
    """Claim a mail domain for a customer; programs use `POST …/customers/:customer_id/mail-domains`."""
    provider_id = id_or_none(form.provider_id)
    if provider_id is None:
        raise BadRequest.of_field("provider_id", "Choose a connection.")
    path = path_of(org_slug, service_slug, customer_id)
    await call.transact(mail_domains.create, path, form.domain, provider_id)
    return after(call.request.path, "mail-domain-claimed")


@routes.post(f"{DOMAIN}/verify", refuses=(*REFUSES, BadRequest, RouteUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_mail_domains, BadRequest)
async def verify_customer_mail_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, domain_id: UUID
) -> PageOrRedirect:
    """Ask the name servers for the TXT record now; programs use `POST …/mail-domains/:domain_id/verify`."""
    path = path_of(org_slug, service_slug, customer_id)
    claim = await call.read(mail_domains.find_to_verify, path, domain_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    await call.transact(mail_domains.verify, path, domain_id, records)
    return after(_above(call), "mail-domain-verified")


@routes.post(f"{DOMAIN}/remove", refuses=(*REFUSES, RouteUnknown))
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
