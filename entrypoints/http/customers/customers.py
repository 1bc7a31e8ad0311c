"""The customers of a service: offers to organizations, and those that use the service."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

import msgspec

from core.customers import claiming, customers, made_customers, my_applications
from core.customers.claiming import NotUnclaimed, OutsideMailDomain, SetupPart
from core.customers.customers import (
    EXTERNAL_ID_CHARACTERS_MAX,
    AlreadyCustomer,
    AlreadyOffered,
    CustomersPage,
    CustomerUnknown,
    ExternalIdTaken,
    NotForCustomers,
    ServiceCustomer,
    VendorPath,
)
from core.customers.my_applications import OwnCustomer
from core.customers.relation_log import CustomerState
from core.errors import BadRequest, RateLimitExceeded
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.input.metadata import MetadataFields
from entrypoints.web.serving.admission.credentials import on_service, signed_in
from entrypoints.web.serving.answering.bodies import Change, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "customers",
    "Organizations that use a service of yours, its customers. You offer a service to an organization by its slug, and"
    " the organization accepts. Set `customers` of the service to `listed` or `any` first. In your data, tell customers"
    " apart by `customer_id`.",
)

SEARCH_CHARACTERS_MAX = 100

CustomerExternalId = Annotated[
    str | None,
    msgspec.Meta(
        description=f"Your own id of the customer, with 1 to {EXTERNAL_ID_CHARACTERS_MAX} characters; unique among the"
        " customers and offers of the service. Tokens name it as `customer_external_id`."
    ),
]
VendorPaused = Annotated[
    bool, msgspec.Meta(description="Whether you have paused it. The customer's own pause is apart.")
]


class CustomersQuery(Sliced, kw_only=True):
    """A text to search for, and a part of the list."""

    q: Annotated[
        str,
        msgspec.Meta(
            max_length=SEARCH_CHARACTERS_MAX,
            description="Finds customers and offers whose slug or external id contains it, and customers whose name"
            " does.",
        ),
    ] = ""


class NewCustomer(msgspec.Struct, kw_only=True):
    """An organization to which the service is offered, or the name of one that is made; and your own id of it.

    Send `organization` or `name`.
    """

    organization: Annotated[
        str | msgspec.UnsetType,
        msgspec.Meta(description="The slug of the organization; the answer is the same whether there is one."),
    ] = msgspec.UNSET
    name: Annotated[
        str | msgspec.UnsetType,
        msgspec.Meta(
            description="The name of the customer, for which an organization is made that no person owns yet."
        ),
    ] = msgspec.UNSET
    external_id: CustomerExternalId = None
    owner_email: Annotated[
        str | None,
        msgspec.Meta(
            description="With a name: the address to which the link is mailed that makes its reader the owner of the"
            " new organization."
        ),
    ] = None

    @property
    def subject(self) -> tuple[bool, str]:
        """Whether an organization is made, and its name; for an offer, the slug."""
        if self.organization is msgspec.UNSET and self.name is not msgspec.UNSET:
            return True, self.name
        if self.name is msgspec.UNSET and self.organization is not msgspec.UNSET:
            if self.owner_email is not None:
                raise BadRequest.of_field("owner_email", "An organization that exists has an owner already.")
            return False, self.organization
        raise BadRequest.of_field(
            "organization",
            "Send the slug of an organization that exists as organization, or the name of a new one as name.",
        )


class CustomerChange(Change):
    """The fields to change; omitted fields keep their values."""

    external_id: CustomerExternalId | msgspec.UnsetType = msgspec.UNSET
    paused: VendorPaused | msgspec.UnsetType = msgspec.UNSET
    metadata: MetadataFields | msgspec.UnsetType = msgspec.UNSET


class CustomerOwner(msgspec.Struct, kw_only=True):
    """Who shall own the organization of a customer."""

    email: str


class CustomerOrganization(msgspec.Struct, kw_only=True):
    """The organization of a customer; its name is null until it has accepted."""

    slug: str
    name: str | None


class CustomerRecord(Record):
    """A customer of a service, or an offer to become one."""

    id: UUID
    organization: CustomerOrganization
    state: CustomerState
    external_id: CustomerExternalId
    paused: VendorPaused
    shares_directory: bool
    unclaimed: Annotated[
        bool, msgspec.Meta(description="Whether you have made its organization, and no person owns it yet.")
    ]
    vendor_setup: Annotated[
        list[SetupPart], msgspec.Meta(description="What its owner lets you set up, once it has an owner.")
    ]
    last_sign_in_at: datetime | None
    created_at: datetime
    metadata: dict[str, Any]

    @classmethod
    def of(cls, entity: ServiceCustomer, **more: Any) -> Self:
        """Return a customer as its vendor sees it."""
        return super().of(
            entity,
            organization=CustomerOrganization(slug=entity.slug, name=entity.name),
            paused=entity.is_paused_by_vendor,
            unclaimed=entity.is_unclaimed,
            vendor_setup=[SetupPart(part) for part in entity.vendor_setup],
            **more,
        )


class CustomerList(msgspec.Struct, kw_only=True):
    """A part of the customers and open offers, and how many there are."""

    customers: list[CustomerRecord]
    total: int

    @classmethod
    def of(cls, page: CustomersPage) -> Self:
        """Return a part of the list as its vendor sees it."""
        return cls(customers=[CustomerRecord.of(one) for one in page.customers], total=page.total)


class VisitedCustomer(Record, of=OwnCustomer, without=("organization_id", "internal_id")):
    """A customer of the service for which you have signed in."""


class VisitedCustomers(msgspec.Struct, kw_only=True):
    """The customers for which you have signed in, the latest first."""

    customers: list[VisitedCustomer]
    total: int


@routes.get("/api/organizations/:org_slug/services/:service_slug/customers", refuses=(ServiceUnknown,))
@on_service(Operation.CUSTOMERS_READ)
async def list_customers(call: Call, org_slug: str, service_slug: str, query: CustomersQuery) -> CustomerList:
    """List the customers and open offers of a service, the newest first."""
    page = await call.read(
        customers.list_page, VendorPath(org_slug, service_slug), search=query.q, limit=query.limit, offset=query.offset
    )
    return CustomerList.of(page)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers",
    refuses=(ServiceUnknown, NotForCustomers, AlreadyCustomer, AlreadyOffered, ExternalIdTaken, RateLimitExceeded),
)
@on_service(Operation.CUSTOMER_OFFER)
async def offer_service(call: Call, org_slug: str, service_slug: str, body: NewCustomer) -> CustomerRecord:
    """Offer a service to another organization, which has 30 days to accept, or make an organization for a customer.

    An offer is answered alike whether there is an organization with that slug. An organization that takes the slug
    later does not see the offer. Your organization may make 100 offers an hour.

    With a `name` the answer is a customer that is active at once, whose organization no person owns yet. Your
    organization may make 100 an hour, and have 1,000 that no person has claimed. With an `owner_email` as well, a link
    is mailed that makes its reader the owner.
    """
    is_made, text = body.subject
    if is_made:
        made = await call.transact(
            made_customers.create,
            VendorPath(org_slug, service_slug),
            name=text,
            external_id=body.external_id,
            owner_email=body.owner_email,
            is_welcome=call.installation.settings.auto_approve,
        )
        return CustomerRecord.of(made)
    offered = await call.transact(
        customers.offer, VendorPath(org_slug, service_slug), organization=text, external_id=body.external_id
    )
    return CustomerRecord.of(offered)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id",
    refuses=(ServiceUnknown, CustomerUnknown),
)
@on_service(Operation.CUSTOMERS_READ)
async def show_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> CustomerRecord:
    """Show a customer or an open offer."""
    return CustomerRecord.of(await call.read(customers.show, VendorPath(org_slug, service_slug), customer_id))


@routes.patch(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id",
    refuses=(ServiceUnknown, CustomerUnknown, ExternalIdTaken),
)
@on_service(Operation.CUSTOMERS_CHANGE)
async def change_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, body: CustomerChange
) -> CustomerRecord:
    """Change your own id of a customer and its metadata, or pause it.

    While either of you has paused it, none of its people can use the service for it. An offer cannot be paused.
    """
    vendor = VendorPath(org_slug, service_slug)
    return CustomerRecord.of(await call.transact(customers.change, vendor, customer_id, body.given()))


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id",
    status=204,
    refuses=(ServiceUnknown, CustomerUnknown),
)
@on_service(Operation.CUSTOMERS_CHANGE)
async def end_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> None:
    """Withdraw an offer, or end the use of the service by a customer.

    Its people lose access at once, and sessions for it end within a minute. If the customer begins anew, that is
    another record with another id. A customer that no person owns yet can be restored for 14 days.
    """
    await call.transact(customers.end, VendorPath(org_slug, service_slug), customer_id)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/restore",
    refuses=(ServiceUnknown, CustomerUnknown, NotForCustomers, ExternalIdTaken),
)
@on_service(Operation.CUSTOMER_OFFER)
async def restore_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> CustomerRecord:
    """Restore a customer that no person owned when you ended it, within 14 days.

    What you have made for it comes back with it, and so does its id. Links that were mailed to its future owner do not.
    """
    vendor = VendorPath(org_slug, service_slug)
    return CustomerRecord.of(await call.transact(made_customers.restore, vendor, customer_id))


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/owner",
    refuses=(ServiceUnknown, CustomerUnknown, NotUnclaimed, OutsideMailDomain, RateLimitExceeded),
)
@on_service(Operation.CUSTOMER_OWNER_NAME)
async def name_owner(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, body: CustomerOwner
) -> CustomerRecord:
    """Mail a link that makes its reader the owner of the organization that you have made for a customer.

    It is valid for seven days, replaces an open one, and is never shown here. Its reader signs in with that address, or
    creates an account for it, sees what you have set up, and chooses a name and slug. Where a mail domain is proved for
    the customer, name an address in it.
    """
    vendor = VendorPath(org_slug, service_slug)
    named = await call.transact(claiming.name_owner, vendor, customer_id, email=body.email)
    return CustomerRecord.of(named)


@routes.get("/api/user/customers")
@signed_in
async def list_own_customers(call: Call) -> VisitedCustomers:
    """List the customers of the service of your token for which you have signed in, the latest first.

    They are the customers for which you may still use the service, so that its page can offer to switch. A session that
    began at the identity provider of an organization shows that organization alone, and a token of no service has none.
    At most 200 are listed.
    """
    found = await call.read(my_applications.list_my_customers)
    return VisitedCustomers(customers=[VisitedCustomer.of(one) for one in found], total=len(found))
