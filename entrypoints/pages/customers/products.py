"""The pages of the products of an organization: offers, what it uses, what its vendors see, pausing and ending one."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.customers import found_products, products
from core.customers.products import (
    Product,
    ProductAccess,
    ProductAlreadyUsed,
    ProductOnlyOffered,
    ProductUnknown,
)
from core.customers.relation_log import CustomerState
from core.errors import BadRequest, Forbidden, Refusal
from core.ids import id_or_none
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.authorization import authorize
from core.organizations.organizations import OWNER
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.pickers import picker
from entrypoints.pages.customers.claiming import PARTS_OFFERED
from entrypoints.pages.customers.customers import STATES
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.assignments import AssignmentForm, AssignmentQuery, subjects_to_choose
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PRODUCTS: Final = "/app/organizations/:org_slug/products"
PRODUCT: Final = f"{PRODUCTS}/:client_id"
ACCESSES: Final = [
    (ProductAccess.MEMBERS.value, marked("Every active member")),
    (ProductAccess.ASSIGNED.value, marked("Only members with an assignment")),
]


class FoundProductsQuery(ConsoleListQuery, kw_only=True):
    """Which products to show."""

    search: Annotated[
        str, msgspec.Meta(description="A part of the name of the product or its vendor.", max_length=100)
    ] = ""
    state: Annotated[str, msgspec.Meta(description="Only products in this state.", max_length=20)] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name; what is no state filters nothing."""
        state = CustomerState(self.state) if self.state in set(CustomerState) else None
        return {"search": self.search, "state": state}


FOUND: Final = ConsoleList[Product](
    path=PRODUCTS,
    listed=found_products.listed,
    file="products",
    columns={
        "client_id": lambda one: one.client_id,
        "customer_id": lambda one: one.customer_id,
        "product": lambda one: one.service_name,
        "vendor": lambda one: one.vendor_slug,
        "vendor_name": lambda one: one.vendor_name,
        "state": lambda one: one.state.value,
        "access": lambda one: one.access.value,
        "shares_directory": lambda one: one.shares_directory,
        "created_at": lambda one: one.created_at,
    },
)


class ProductAcceptanceForm(ProtectedForm, kw_only=True):
    """The client id of the product that the organization begins to use."""

    client_id: str = ""


class ProductAccessForm(ProtectedForm, kw_only=True):
    """Who may use a product."""

    access: str = ""


class ProductSightForm(ProtectedForm, kw_only=True):
    """What the vendor of a product sees of the organization, and whether outsiders can see that it uses the product."""

    shares_directory: str = ""
    hidden: str = ""


class VendorSetupForm(ProtectedForm, kw_only=True):
    """What the vendor of a product may go on setting up."""

    vendor_setup: Annotated[list[str], msgspec.Meta(description="The parts that the vendor may set up.")] = (
        msgspec.field(default_factory=list[str])
    )


class ProductGroupForm(ProtectedForm, kw_only=True):
    """A group of the directory by its id, and what was searched for."""

    group: str = ""
    find_group: str = ""

    @property
    def group_id(self) -> UUID:
        """The id of the group; raise `BadRequest` for none."""
        group_id = id_or_none(self.group)
        if group_id is None:
            raise BadRequest.of_field("group", "Choose a group.")
        return group_id


class ProductQuery(AssignmentQuery, kw_only=True):
    """What was just done, and what the forms held when one of them was searched with."""

    group: Annotated[str, msgspec.Meta(description="The group to show to the vendor.", max_length=100)] = ""
    find_group: Annotated[str, msgspec.Meta(description="A part of the name of a group.", max_length=254)] = ""


@routes.get(PRODUCTS)
@in_console(Operation.PRODUCTS_READ)
async def show_products(
    call: Call,
    org_slug: str,
    *,
    query: FoundProductsQuery | None = None,
    form: ProductAcceptanceForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the products that an organization uses and those that are offered to it, by name and state."""
    query = query or FoundProductsQuery()
    standing, found = await opened(call, org_slug, Operation.PRODUCTS_READ, found_products.search, **query.rows)
    form = form or ProductAcceptanceForm()
    page = FOUND.page(org_slug)
    return console_page(
        call,
        "customers/products.html",
        standing,
        program=Program(
            "products_accept_product",
            org_slug,
            body={"client_id": form.client_id or "0191d3c1-0000-7000-8000-000000000000"},
        ),
        done=query.done,
        refusal=refusal,
        **FOUND.values(query, found.rows, org_slug),
        offers=found.offers,
        offered=with_query(page, state=CustomerState.OFFERED.value),
        form=form,
        states=STATES,
        choices=[("", marked("Every state")), *((state.value, text) for state, (_, text) in STATES.items())],
        lacks_accepting=standing.lacks(Operation.PRODUCT_ACCEPT),
        lacks_change=standing.lacks(Operation.PRODUCTS_CHANGE),
        made_for_us="" if standing.lacks(Operation.MADE_FOR_US_READ) else f"{page_of(org_slug)}/made-for-us",
    )


@routes.get(f"{PRODUCTS}/products.csv")
@in_console(Operation.PRODUCTS_READ)
async def download_products(call: Call, org_slug: str, query: FoundProductsQuery) -> CsvFile:
    """Download the products and offers that a search finds, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, query=query)


@routes.post(PRODUCTS, refuses=(BadRequest, ProductUnknown, ProductAlreadyUsed))
@in_console(Operation.PRODUCT_ACCEPT)
@shows_again(show_products, BadRequest, ProductUnknown, ProductAlreadyUsed)
async def accept_product_offer(call: Call, org_slug: str, form: ProductAcceptanceForm) -> PageOrRedirect:
    """Accept an offer, or begin to use an open product; programs use `POST /api/organizations/:slug/products`."""
    await call.read(authorize, org_slug, Operation.PRODUCT_ACCEPT)
    client_id = id_or_none(form.client_id.strip())
    if client_id is None:
        raise BadRequest.of_field("client_id", "A client id is like 0191d3c1-0000-7000-8000-000000000000.")
    await call.transact(products.accept, org_slug, client_id)
    return after(page_of_product(org_slug, client_id), "product-accepted")


@routes.get(PRODUCT, refuses=(ProductUnknown,))
@in_console(Operation.PRODUCTS_READ)
async def show_product_page(
    call: Call,
    org_slug: str,
    client_id: UUID,
    *,
    query: ProductQuery | None = None,
    form: ProductAccessForm | ProductSightForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a product: its vendor, who may use it, what the vendor sees of the organization, and how to end it."""
    return await product_page(call, org_slug, client_id, query=query, form=form, refusal=refusal)


async def product_page(
    call: Call,
    org_slug: str,
    client_id: UUID,
    *,
    query: ProductQuery | None = None,
    form: ProtectedForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Return the page of a product, after a search or a refusal with what one of its forms held."""
    query = query or ProductQuery()
    assignment = form if isinstance(form, AssignmentForm) else query
    shown = form if isinstance(form, ProductGroupForm) else query
    standing, found = await opened(
        call,
        org_slug,
        Operation.PRODUCTS_READ,
        found_products.show,
        client_id,
        find=assignment.find_subject,
        find_group=shown.find_group,
    )
    product = found.product
    return console_page(
        call,
        "customers/products_one.html",
        standing,
        program=_program(product, org_slug),
        done=query.done,
        refusal=refusal,
        found=found,
        product=product,
        state=STATES[product.state],
        accesses=ACCESSES,
        access=form.access if isinstance(form, ProductAccessForm) else product.access.value,
        sight=form if isinstance(form, ProductSightForm) else _sight_of(product),
        products=FOUND.page(org_slug),
        made_for_us=f"{page_of(org_slug)}/made-for-us",
        page=page_of_product(org_slug, client_id),
        parts_offered=PARTS_OFFERED,
        lacks_owner=None if standing.role == OWNER and not standing.is_impersonated else RequiredStanding.OWNER,
        lacks_sign_ins=standing.lacks(Operation.SIGN_INS_READ),
        lacks_change=standing.lacks(Operation.PRODUCTS_CHANGE),
        lacks_accepting=standing.lacks(Operation.PRODUCT_ACCEPT),
        lacks_lasting=standing.lacks_lasting(Operation.PRODUCTS_CHANGE),
        lacks_sharing=None if Capability.ORG_MEMBERS_VIEW in standing.capabilities else Capability.ORG_MEMBERS_VIEW,
        assigned_roles=assignment.roles,
        subject=subjects_to_choose(call, found.assignable, assignment),
        group=picker("group", ("", found.groups_to_show), chosen=shown.group, searched=shown.find_group),
    )


_CHANGING: Final = (BadRequest, ProductUnknown, ProductOnlyOffered, Forbidden)


@routes.post(PRODUCT, refuses=_CHANGING)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(show_product_page, BadRequest)
async def change_product_access(call: Call, org_slug: str, client_id: UUID, form: ProductAccessForm) -> PageOrRedirect:
    """Set who may use a product; programs use `PATCH /api/organizations/:slug/products/:client_id`."""
    await call.read(authorize, org_slug, Operation.PRODUCTS_CHANGE)
    if form.access not in set(ProductAccess):
        raise BadRequest.of_field("access", "Choose who may use the product.")
    await call.transact(products.change, org_slug, client_id, {"access": ProductAccess(form.access)})
    return after(page_of_product(org_slug, client_id), "product-saved")


@routes.post(f"{PRODUCT}/sight", refuses=_CHANGING)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(show_product_page, BadRequest)
async def change_product_sight(call: Call, org_slug: str, client_id: UUID, form: ProductSightForm) -> PageOrRedirect:
    """Set what the vendor sees; programs use `PATCH /api/organizations/:slug/products/:client_id`."""
    changes = {"shares_directory": bool(form.shares_directory), "hidden": bool(form.hidden)}
    await call.transact(products.change, org_slug, client_id, changes)
    return after(page_of_product(org_slug, client_id), "product-saved")


@routes.get(f"{PRODUCT}/setup", refuses=(ProductUnknown, Forbidden))
@in_console(Operation.VENDOR_SETUP_CHANGE)
async def show_vendor_setup(
    call: Call,
    org_slug: str,
    client_id: UUID,
    *,
    form: VendorSetupForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show which parts of a product its vendor may set up, for the owner to change."""
    await call.read(authorize, org_slug, Operation.VENDOR_SETUP_CHANGE)
    await recent_for_form(call)
    standing, found = await opened(call, org_slug, Operation.PRODUCTS_READ, found_products.show, client_id)
    return console_page(
        call,
        "customers/products_setup.html",
        standing,
        program=Program(
            "products_change_product", org_slug, client_id, body={"vendor_setup": found.product.vendor_setup}
        ),
        refusal=refusal,
        product=found.product,
        page=page_of_product(org_slug, client_id),
        parts_offered=PARTS_OFFERED,
        chosen=form.vendor_setup if form is not None else found.product.vendor_setup,
    )


@routes.post(f"{PRODUCT}/setup", refuses=_CHANGING)
@in_console(Operation.VENDOR_SETUP_CHANGE)
@shows_again(show_vendor_setup, BadRequest)
async def change_vendor_setup(call: Call, org_slug: str, client_id: UUID, form: VendorSetupForm) -> PageOrRedirect:
    """Set what the vendor sets up; programs use `PATCH /api/organizations/:slug/products/:client_id`."""
    await call.read(authorize, org_slug, Operation.VENDOR_SETUP_CHANGE)
    await recent(call, page=f"{page_of_product(org_slug, client_id)}/setup")
    await call.transact(products.change, org_slug, client_id, {"vendor_setup": form.vendor_setup})
    return after(page_of_product(org_slug, client_id), "product-saved")


@routes.get(f"{PRODUCT}/pause", refuses=(ProductUnknown,))
@in_console(Operation.PRODUCTS_CHANGE)
async def ask_to_pause_product(call: Call, org_slug: str, client_id: UUID) -> Page:
    """Show whose access stops when the organization pauses a product, in numbers."""
    program = Program("products_change_product", org_slug, client_id, body={"paused": True})
    return await _confirmation(
        call, "customers/products_pause.html", program, org_slug, client_id, Operation.PRODUCTS_CHANGE
    )


@routes.post(f"{PRODUCT}/pause", refuses=_CHANGING)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(show_product_page, BadRequest)
async def pause_product(call: Call, org_slug: str, client_id: UUID) -> PageOrRedirect:
    """Pause a product; programs use `PATCH /api/organizations/:slug/products/:client_id` with `paused`."""
    await call.transact(products.change, org_slug, client_id, {"paused": True})
    return after(page_of_product(org_slug, client_id), "product-paused")


@routes.post(f"{PRODUCT}/resume", refuses=_CHANGING)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(show_product_page, BadRequest)
async def resume_product(call: Call, org_slug: str, client_id: UUID) -> PageOrRedirect:
    """Lift the pause of a product; programs use `PATCH /api/organizations/:slug/products/:client_id` with `paused`."""
    await call.transact(products.change, org_slug, client_id, {"paused": False})
    return after(page_of_product(org_slug, client_id), "product-resumed")


@routes.get(f"{PRODUCT}/end", refuses=(ProductUnknown,))
@in_console(Operation.PRODUCT_END)
async def ask_to_end_product(call: Call, org_slug: str, client_id: UUID) -> Page:
    """Show what ends with a product, in numbers, or that an offer is declined."""
    program = Program("products_end_product", org_slug, client_id)
    return await _confirmation(
        call, "customers/products_ending.html", program, org_slug, client_id, Operation.PRODUCT_END
    )


@routes.post(f"{PRODUCT}/end", refuses=(ProductUnknown,))
@in_console(Operation.PRODUCT_END)
async def end_product_for_good(call: Call, org_slug: str, client_id: UUID) -> PageOrRedirect:
    """Decline an offer, or end the use of a product; `DELETE /api/organizations/:slug/products/:client_id`."""
    await call.transact(products.end, org_slug, client_id)
    return after(FOUND.page(org_slug), "product-ended")


def page_of_product(org_slug: str, client_id: UUID) -> str:
    """Return the path of a product in the console."""
    return f"{page_of(org_slug)}/products/{client_id}"


async def _confirmation(
    call: Call, template: str, program: Program, org_slug: str, client_id: UUID, operation: Operation
) -> Page:
    standing, found = await opened(call, org_slug, operation, found_products.show_in_numbers, client_id, operation)
    return console_page(
        call,
        template,
        standing,
        program=program,
        product=found.product,
        figures=found.figures,
        page=page_of_product(org_slug, client_id),
    )


def _sight_of(product: Product) -> ProductSightForm:
    return ProductSightForm(
        shares_directory="on" if product.shares_directory else "", hidden="on" if product.hidden else ""
    )


def _program(product: Product, org_slug: str) -> Program:
    """Return the call that does what is next about a product: accepting the offer, or saying who may use it."""
    if not product.is_accepted:
        return Program("products_accept_product", org_slug, body={"client_id": str(product.client_id)})
    return Program(
        "products_change_product",
        org_slug,
        product.client_id,
        body={
            "access": product.access.value,
            "assignments": [{"subject": one.subject, "roles": one.roles} for one in product.assignments],
        },
    )
