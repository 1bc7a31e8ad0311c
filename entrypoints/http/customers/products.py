"""The services of other organizations that an organization uses as a customer, and offers of them."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

import msgspec

from core.customers import products
from core.customers.claiming import SetupPart
from core.customers.products import (
    GROUPS_MAX,
    Product,
    ProductAccess,
    ProductAlreadyUsed,
    ProductOnlyOffered,
    ProductUnknown,
    SignInTooOld,
)
from core.customers.relation_log import CustomerState
from core.errors import BadRequest
from core.organizations.access import Operation
from core.services.assignments import ASSIGNMENTS_MAX, Assignment
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Change, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "products",
    "Services of other organizations that your organization uses as a customer, and that are offered to it. Your"
    " organization says who of its members may use each, with which roles of the service.",
)

AssignedRoles = Annotated[
    list[str], msgspec.Meta(description="Names of roles of the service; none of them may be given.")
]
ProductAccessField = Annotated[
    ProductAccess,
    msgspec.Meta(
        description="Who may use the product: `members` for every active member, `assigned` for members that an"
        " assignment fits."
    ),
]
HiddenField = Annotated[
    bool,
    msgspec.Meta(
        description="Whether the sign-in of the product does not lead addresses of your mail domains to your own"
        " sign-in, so that no one sees that you use it."
    ),
]
CustomerPaused = Annotated[
    bool, msgspec.Meta(description="Whether your organization has paused it. The vendor's own pause is apart.")
]
ProductGroups = Annotated[
    list[UUID],
    msgspec.Meta(
        description=f"Groups of your directory that the product learns of, by their ids; at most {GROUPS_MAX}."
    ),
]

VendorSetup = Annotated[
    list[SetupPart],
    msgspec.Meta(
        description="What the vendor may go on setting up for your organization; the owner alone sets it, within ten"
        " minutes of a sign-in. What is taken away ends its setup links, and SCIM tokens that the vendor knows."
    ),
]


class ProductAssignment(msgspec.Struct, kw_only=True):
    """A subject of the organization that the product is assigned to, with roles of the product."""

    subject: Annotated[
        str,
        msgspec.Meta(
            description="`everyone`, `role:` and the slug of a role, `group:` and the id of a group of your directory,"
            " or `user:` and the id of an active member."
        ),
    ]
    roles: AssignedRoles = msgspec.field(default_factory=list[str])


ProductAssignments = Annotated[
    list[ProductAssignment],
    msgspec.Meta(
        description=f"The assignments of the product, each subject once; at most {ASSIGNMENTS_MAX}. The roles of all"
        " that fit a member add up."
    ),
]


class ProductAcceptance(msgspec.Struct, kw_only=True):
    """The service that the organization begins to use."""

    client_id: UUID


class ProductChange(Change):
    """The fields to change; omitted fields keep their values, and lists are replaced."""

    access: ProductAccessField | msgspec.UnsetType = msgspec.UNSET
    assignments: ProductAssignments | msgspec.UnsetType = msgspec.UNSET
    shares_directory: bool | msgspec.UnsetType = msgspec.UNSET
    groups: ProductGroups | msgspec.UnsetType = msgspec.UNSET
    hidden: HiddenField | msgspec.UnsetType = msgspec.UNSET
    vendor_setup: VendorSetup | msgspec.UnsetType = msgspec.UNSET
    paused: CustomerPaused | msgspec.UnsetType = msgspec.UNSET

    def given(self) -> dict[str, Any]:
        """Return the fields that the request names, as the use case takes them."""
        named = super().given()
        if self.assignments is not msgspec.UNSET:
            named["assignments"] = [Assignment(subject=one.subject, roles=one.roles) for one in self.assignments]
        return named


class ProductService(msgspec.Struct, kw_only=True):
    """The service of a product."""

    slug: str
    name: str


class ProductVendor(msgspec.Struct, kw_only=True):
    """The organization whose service a product is."""

    slug: str
    name: str


class ProductRecord(Record):
    """A service of another organization that the organization uses, or that is offered to it."""

    client_id: UUID
    customer_id: UUID
    service: ProductService
    vendor: ProductVendor
    state: CustomerState
    access: ProductAccessField
    assignments: ProductAssignments
    shares_directory: bool
    groups: ProductGroups
    hidden: HiddenField
    vendor_setup: VendorSetup
    paused: CustomerPaused
    created_at: datetime

    @classmethod
    def of(cls, entity: Product, **more: Any) -> Self:
        """Return a product as its customer sees it."""
        return super().of(
            entity,
            service=ProductService(slug=entity.service_slug, name=entity.service_name),
            vendor=ProductVendor(slug=entity.vendor_slug, name=entity.vendor_name),
            assignments=[ProductAssignment(subject=one.subject, roles=one.roles) for one in entity.assignments],
            vendor_setup=[SetupPart(part) for part in entity.vendor_setup],
            paused=entity.is_paused_by_customer,
            **more,
        )


class ProductList(msgspec.Struct, kw_only=True):
    """A part of the products, and how many there are."""

    products: list[ProductRecord]
    total: int


@routes.get("/api/organizations/:slug/products")
@in_organization(Operation.PRODUCTS_READ)
async def list_products(call: Call, slug: str, query: Sliced) -> ProductList:
    """List the products that the organization uses, then those that are offered to it, by name."""
    page = await call.read(products.list_page, slug, limit=query.limit, offset=query.offset)
    return ProductList(products=[ProductRecord.of(one) for one in page.products], total=page.total)


@routes.post("/api/organizations/:slug/products", refuses=(BadRequest, ProductUnknown, ProductAlreadyUsed))
@in_organization(Operation.PRODUCT_ACCEPT)
async def accept_product(call: Call, slug: str, body: ProductAcceptance) -> ProductRecord:
    """Accept the offer of a product, or begin to use one that is open to any organization.

    At first every active member may use it, and its vendor learns only of members who sign in. A service that is
    neither offered nor open is answered as one that does not exist.
    """
    return ProductRecord.of(await call.transact(products.accept, slug, body.client_id))


@routes.get("/api/organizations/:slug/products/:client_id", refuses=(ProductUnknown,))
@in_organization(Operation.PRODUCTS_READ)
async def show_product(call: Call, slug: str, client_id: UUID) -> ProductRecord:
    """Show a product that the organization uses, or that is offered to it."""
    return ProductRecord.of(await call.read(products.show, slug, client_id))


@routes.patch(
    "/api/organizations/:slug/products/:client_id", refuses=(ProductUnknown, ProductOnlyOffered, SignInTooOld)
)
@in_organization(Operation.PRODUCTS_CHANGE)
async def change_product(call: Call, slug: str, client_id: UUID, body: ProductChange) -> ProductRecord:
    """Change who may use a product, what its vendor learns of the organization, or pause it.

    To share the directory also takes `org.members.view`. People who may no longer use it lose access at once, and their
    sessions for the organization end within a minute.
    """
    return ProductRecord.of(await call.transact(products.change, slug, client_id, body.given()))


@routes.delete("/api/organizations/:slug/products/:client_id", status=204, refuses=(ProductUnknown,))
@in_organization(Operation.PRODUCT_END)
async def end_product(call: Call, slug: str, client_id: UUID) -> None:
    """Decline the offer of a product, or end its use.

    The members lose access at once, and their sessions for the organization end within a minute. Memberships and logs
    stay as they are.
    """
    await call.transact(products.end, slug, client_id)
