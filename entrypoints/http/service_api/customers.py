"""The customers of a service, for its backend."""

from uuid import UUID

from core.customers import claiming, customers, made_customers
from core.customers.claiming import NotUnclaimed, OutsideMailDomain
from core.customers.customers import (
    OF_KEY,
    AlreadyCustomer,
    AlreadyOffered,
    CustomerUnknown,
    ExternalIdTaken,
    NotForCustomers,
)
from core.errors import RateLimitExceeded
from core.services.api_keys import Permission
from entrypoints.http.customers.customers import (
    CustomerChange,
    CustomerList,
    CustomerOwner,
    CustomerRecord,
    CustomersQuery,
    NewCustomer,
)
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "service customers",
    "The customers of a service, as its backend manages them with an API key: the same records as under `customers`.",
)


@routes.get("/api/service/customers")
@service_key(Permission.READ_CUSTOMERS)
async def list_customers(call: Call, query: CustomersQuery) -> CustomerList:
    """List the customers and open offers of your service, the newest first."""
    page = await call.read(customers.list_page, OF_KEY, search=query.q, limit=query.limit, offset=query.offset)
    return CustomerList.of(page)


@routes.post(
    "/api/service/customers",
    refuses=(NotForCustomers, AlreadyCustomer, AlreadyOffered, ExternalIdTaken, RateLimitExceeded),
)
@service_key(Permission.WRITE_CUSTOMERS)
async def offer_service(call: Call, body: NewCustomer) -> CustomerRecord:
    """Offer your service to another organization, which has 30 days to accept, or make an organization for a customer.

    An offer is answered alike whether there is an organization with that slug. An organization that takes the slug
    later does not see the offer. Your organization may make 100 offers an hour, including offers by its members.

    With a `name` the answer is a customer that is active at once, whose organization no person owns yet. Your
    organization may make 100 an hour, and have 1,000 that no person has claimed. With an `owner_email` as well, a link
    is mailed that makes its reader the owner.
    """
    is_made, text = body.subject
    if is_made:
        made = await call.transact(
            made_customers.create,
            OF_KEY,
            name=text,
            external_id=body.external_id,
            owner_email=body.owner_email,
            is_welcome=call.installation.settings.auto_approve,
        )
        return CustomerRecord.of(made)
    offered = await call.transact(customers.offer, OF_KEY, organization=text, external_id=body.external_id)
    return CustomerRecord.of(offered)


@routes.get("/api/service/customers/:customer_id", refuses=(CustomerUnknown,))
@service_key(Permission.READ_CUSTOMERS)
async def show_customer(call: Call, customer_id: UUID) -> CustomerRecord:
    """Show a customer or an open offer of your service."""
    return CustomerRecord.of(await call.read(customers.show, OF_KEY, customer_id))


@routes.patch("/api/service/customers/:customer_id", refuses=(CustomerUnknown, ExternalIdTaken))
@service_key(Permission.WRITE_CUSTOMERS)
async def change_customer(call: Call, customer_id: UUID, body: CustomerChange) -> CustomerRecord:
    """Change your own id of a customer and its metadata, or pause it.

    While either of you has paused it, none of its people can use the service for it. An offer cannot be paused.
    """
    return CustomerRecord.of(await call.transact(customers.change, OF_KEY, customer_id, body.given()))


@routes.delete("/api/service/customers/:customer_id", status=204, refuses=(CustomerUnknown,))
@service_key(Permission.WRITE_CUSTOMERS)
async def end_customer(call: Call, customer_id: UUID) -> None:
    """Withdraw an offer, or end the use of your service by a customer.

    Its people lose access at once, and sessions for it end within a minute. If the customer begins anew, that is
    another record with another id. A customer that no person owns yet can be restored for 14 days.
    """
    await call.transact(customers.end, OF_KEY, customer_id)


@routes.post("/api/service/customers/:customer_id/restore", refuses=(CustomerUnknown, NotForCustomers, ExternalIdTaken))
@service_key(Permission.WRITE_CUSTOMERS)
async def restore_customer(call: Call, customer_id: UUID) -> CustomerRecord:
    """Restore a customer that no person owned when you ended it, within 14 days.

    What you have made for it comes back with it, and so does its id. Links that were mailed to its future owner do not.
    """
    return CustomerRecord.of(await call.transact(made_customers.restore, OF_KEY, customer_id))


@routes.post(
    "/api/service/customers/:customer_id/owner",
    refuses=(CustomerUnknown, NotUnclaimed, OutsideMailDomain, RateLimitExceeded),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def name_owner(call: Call, customer_id: UUID, body: CustomerOwner) -> CustomerRecord:
    """Mail a link that makes its reader the owner of the organization that you have made for a customer.

    It is valid for seven days, replaces an open one, and is never shown here. Its reader signs in with that address, or
    creates an account for it, sees what you have set up, and chooses a name and slug. Where a mail domain is proved for
    the customer, name an address in it.
    """
    return CustomerRecord.of(await call.transact(claiming.name_owner, OF_KEY, customer_id, email=body.email))
