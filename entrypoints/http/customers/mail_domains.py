"""Mail domains that a vendor proves for a customer."""

from uuid import UUID

import msgspec

from core.customers import mail_domains
from core.customers.mail_domains import CustomerMailDomain
from core.customers.setup_callers import CustomerPath
from core.organizations.access import Operation
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved
from core.sign_in.upstream.domains.domain_routes import DomainRoutedAlready, RouteUnknown, TooManyRoutes
from entrypoints.http.customers.setup_callers import for_vendor
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "mail domains of customers",
    "Mail domains whose addresses sign in to your service by a connection of the customer. The TXT record `txt_name`"
    " with the value `txt_value` proves that the domain is the customer's. The proof has no other power, and"
    " others may prove the same domain.",
)


class CustomerDomainCreation(msgspec.Struct, kw_only=True):
    """A mail domain, and the connection of the customer by which its addresses sign in."""

    domain: str
    provider_id: UUID


class CustomerDomainList(msgspec.Struct, kw_only=True):
    """All mail domains of a customer, by their names."""

    mail_domains: list[CustomerMailDomain]
    total: int


@for_vendor(routes.get, "/mail-domains", Operation.CUSTOMER_SETUP_READ)
async def list_customer_domains(call: Call, customer: CustomerPath) -> CustomerDomainList:
    """List the mail domains of a customer by their names."""
    found = list(await call.read(mail_domains.list_all, customer))
    return CustomerDomainList(mail_domains=found, total=len(found))


@for_vendor(routes.post, "/mail-domains", Operation.CUSTOMER_SETUP, refuses=(DomainRoutedAlready, TooManyRoutes))
async def create_customer_domain(
    call: Call, customer: CustomerPath, body: CustomerDomainCreation
) -> CustomerMailDomain:
    """Claim a mail domain for a customer. It routes nothing before it is verified."""
    return await call.transact(mail_domains.create, customer, body.domain, body.provider_id)


@for_vendor(routes.get, "/mail-domains/:domain_id", Operation.CUSTOMER_SETUP_READ, refuses=(RouteUnknown,))
async def show_customer_domain(call: Call, customer: CustomerPath, domain_id: UUID) -> CustomerMailDomain:
    """Show a mail domain of a customer, with the record that proves it."""
    return await call.read(mail_domains.show, customer, domain_id)


@for_vendor(routes.delete, "/mail-domains/:domain_id", Operation.CUSTOMER_SETUP, status=204, refuses=(RouteUnknown,))
async def delete_customer_domain(call: Call, customer: CustomerPath, domain_id: UUID) -> None:
    """Give a mail domain of a customer up. Its addresses no longer lead to the connection."""
    await call.transact(mail_domains.delete, customer, domain_id)


@for_vendor(
    routes.post,
    "/mail-domains/:domain_id/verify",
    Operation.CUSTOMER_SETUP,
    refuses=(RouteUnknown, DomainUnproved, DomainUnanswered),
)
async def verify_customer_domain(call: Call, customer: CustomerPath, domain_id: UUID) -> CustomerMailDomain:
    """Ask the name servers of the domain for the TXT record now."""
    claim = await call.read(mail_domains.find_to_verify, customer, domain_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    return await call.transact(mail_domains.verify, customer, domain_id, records)
