"""Mail domains that a vendor proves for a customer."""

from uuid import UUID

import msgspec

from core.customers import mail_domains
from core.customers.customers import CustomerUnknown
from core.customers.mail_domains import CustomerMailDomain
from core.customers.setup_callers import BeyondVendorSetup, CustomerClosed, CustomerPath, MakerOfKeyGone
from core.organizations.access import Operation
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved
from core.services.api_keys import Permission
from core.services.services import ServiceUnknown
from core.sign_in.upstream.domains.domain_routes import DomainRoutedAlready, RouteUnknown, TooManyRoutes
from entrypoints.web.serving.admission.credentials import on_service, service_key
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


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/mail-domains",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def list_customer_domains(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> CustomerDomainList:
    """List the mail domains of a customer by their names."""
    return await _list(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug))


@routes.get(
    "/api/service/customers/:customer_id/mail-domains",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def list_customer_domains_by_key(call: Call, customer_id: UUID) -> CustomerDomainList:
    """List the mail domains of a customer by their names."""
    return await _list(call, CustomerPath(customer_id=customer_id))


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/mail-domains",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, DomainRoutedAlready, TooManyRoutes),
)
@on_service(Operation.CUSTOMER_SETUP)
async def create_customer_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, body: CustomerDomainCreation
) -> CustomerMailDomain:
    """Claim a mail domain for a customer. It routes nothing before it is verified."""
    return await _create(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), body
    )


@routes.post(
    "/api/service/customers/:customer_id/mail-domains",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, DomainRoutedAlready, TooManyRoutes),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def create_customer_domain_by_key(
    call: Call, customer_id: UUID, body: CustomerDomainCreation
) -> CustomerMailDomain:
    """Claim a mail domain for a customer. It routes nothing before it is verified."""
    return await _create(call, CustomerPath(customer_id=customer_id), body)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/mail-domains/:domain_id",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, RouteUnknown),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def show_customer_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, domain_id: UUID
) -> CustomerMailDomain:
    """Show a mail domain of a customer, with the record that proves it."""
    return await _show(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), domain_id
    )


@routes.get(
    "/api/service/customers/:customer_id/mail-domains/:domain_id",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, RouteUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def show_customer_domain_by_key(call: Call, customer_id: UUID, domain_id: UUID) -> CustomerMailDomain:
    """Show a mail domain of a customer, with the record that proves it."""
    return await _show(call, CustomerPath(customer_id=customer_id), domain_id)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/mail-domains/:domain_id",
    status=204,
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, RouteUnknown),
)
@on_service(Operation.CUSTOMER_SETUP)
async def delete_customer_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, domain_id: UUID
) -> None:
    """Give a mail domain of a customer up. Its addresses no longer lead to the connection."""
    await _delete(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), domain_id)


@routes.delete(
    "/api/service/customers/:customer_id/mail-domains/:domain_id",
    status=204,
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, RouteUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def delete_customer_domain_by_key(call: Call, customer_id: UUID, domain_id: UUID) -> None:
    """Give a mail domain of a customer up. Its addresses no longer lead to the connection."""
    await _delete(call, CustomerPath(customer_id=customer_id), domain_id)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/mail-domains/:domain_id/verify",
    refuses=(
        ServiceUnknown,
        CustomerUnknown,
        BeyondVendorSetup,
        CustomerClosed,
        RouteUnknown,
        DomainUnproved,
        DomainUnanswered,
    ),
)
@on_service(Operation.CUSTOMER_SETUP)
async def verify_customer_domain(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, domain_id: UUID
) -> CustomerMailDomain:
    """Ask the name servers of the domain for the TXT record now."""
    return await _verify(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), domain_id
    )


@routes.post(
    "/api/service/customers/:customer_id/mail-domains/:domain_id/verify",
    refuses=(
        CustomerUnknown,
        BeyondVendorSetup,
        CustomerClosed,
        MakerOfKeyGone,
        RouteUnknown,
        DomainUnproved,
        DomainUnanswered,
    ),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def verify_customer_domain_by_key(call: Call, customer_id: UUID, domain_id: UUID) -> CustomerMailDomain:
    """Ask the name servers of the domain for the TXT record now."""
    return await _verify(call, CustomerPath(customer_id=customer_id), domain_id)


async def _list(call: Call, path: CustomerPath) -> CustomerDomainList:
    found = list(await call.read(mail_domains.list_all, path))
    return CustomerDomainList(mail_domains=found, total=len(found))


async def _show(call: Call, path: CustomerPath, domain_id: UUID) -> CustomerMailDomain:
    return await call.read(mail_domains.show, path, domain_id)


async def _create(call: Call, path: CustomerPath, body: CustomerDomainCreation) -> CustomerMailDomain:
    return await call.transact(mail_domains.create, path, body.domain, body.provider_id)


async def _delete(call: Call, path: CustomerPath, domain_id: UUID) -> None:
    await call.transact(mail_domains.delete, path, domain_id)


async def _verify(call: Call, path: CustomerPath, domain_id: UUID) -> CustomerMailDomain:
    claim = await call.read(mail_domains.find_to_verify, path, domain_id)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    return await call.transact(mail_domains.verify, path, domain_id, records)
