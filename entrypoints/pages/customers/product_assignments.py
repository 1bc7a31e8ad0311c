"""The forms of a product's page that say who may use it and which groups its vendor learns of, one by one."""

from typing import Final
from uuid import UUID

from core.customers import product_assignments
from core.customers.products import ProductOnlyOffered, ProductUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from entrypoints.pages.console.frame import after
from entrypoints.pages.customers.products import (
    PRODUCT,
    ProductGroupForm,
    page_of_product,
    product_page,
)
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.assignments import AssignmentForm, SubjectForm
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

ASSIGNMENTS: Final = f"{PRODUCT}/assignments"
GROUPS: Final = f"{PRODUCT}/groups"
_REFUSES: Final = (BadRequest, ProductUnknown, ProductOnlyOffered, Forbidden)


async def _page(
    call: Call,
    org_slug: str,
    client_id: UUID,
    *,
    form: ProtectedForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the page of the product again, with what was typed into one of these forms."""
    return await product_page(call, org_slug, client_id, form=form, refusal=refusal)


@routes.post(ASSIGNMENTS, refuses=_REFUSES)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(_page, BadRequest)
async def assign_product(call: Call, org_slug: str, client_id: UUID, form: AssignmentForm) -> PageOrRedirect:
    """Assign a product; programs use `PATCH /api/organizations/:slug/products/:client_id` with all `assignments`."""
    await call.read(authorize, org_slug, Operation.PRODUCTS_CHANGE)
    await call.transact(product_assignments.assign, org_slug, client_id, form.chosen, form.roles)
    return after(page_of_product(org_slug, client_id), "product-assigned")


@routes.post(f"{ASSIGNMENTS}/remove", refuses=_REFUSES)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(_page, BadRequest)
async def unassign_product(call: Call, org_slug: str, client_id: UUID, form: SubjectForm) -> PageOrRedirect:
    """Take an assignment away; programs use `PATCH /api/organizations/:slug/products/:client_id` with the others."""
    await call.transact(product_assignments.unassign, org_slug, client_id, form.subject)
    return after(page_of_product(org_slug, client_id), "product-unassigned")


@routes.post(GROUPS, refuses=_REFUSES)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(_page, BadRequest)
async def show_group_to_product(call: Call, org_slug: str, client_id: UUID, form: ProductGroupForm) -> PageOrRedirect:
    """Let a product learn of a group; programs use `PATCH /api/organizations/:slug/products/:client_id`."""
    await call.read(authorize, org_slug, Operation.PRODUCTS_CHANGE)
    await call.transact(product_assignments.show_group, org_slug, client_id, form.group_id)
    return after(page_of_product(org_slug, client_id), "product-saved")


@routes.post(f"{GROUPS}/remove", refuses=_REFUSES)
@in_console(Operation.PRODUCTS_CHANGE)
@shows_again(_page, BadRequest)
async def hide_group_from_product(call: Call, org_slug: str, client_id: UUID, form: ProductGroupForm) -> PageOrRedirect:
    """Let a product no longer learn of a group; programs use `PATCH /api/organizations/:slug/products/:client_id`."""
    await call.read(authorize, org_slug, Operation.PRODUCTS_CHANGE)
    await call.transact(product_assignments.hide_group, org_slug, client_id, form.group_id)
    return after(page_of_product(org_slug, client_id), "product-saved")
