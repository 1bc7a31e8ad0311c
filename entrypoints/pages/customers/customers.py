"""The pages of one customer of a service: its state, its owner, notes about it, pausing and ending it.

Finding customers and adding one is in `found_customers.py`. What a vendor makes for a customer is in
`setup_callers.py` and beside it.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.customers import claiming, customers, found_customers, made_customers
from core.customers.claiming import NotUnclaimed
from core.customers.customers import (
    EXTERNAL_ID_CHARACTERS_MAX,
    OFFER_LIFETIME,
    CustomerUnknown,
    ExternalIdTaken,
    VendorPath,
)
from core.customers.found_customers import CustomerInDetail
from core.customers.relation_log import CustomerState
from core.errors import BadRequest, Forbidden, RateLimitExceeded, Refusal
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.console.metadata import MetadataForm, metadata_values
from entrypoints.pages.customers.refused_sign_ins import shown as shown_refusals
from entrypoints.pages.customers.setup_progress import PARTS, STEPS, rows_of_parts, shown_troubles
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

CUSTOMERS: Final = "/app/organizations/:org_slug/services/:service_slug/customers"
CUSTOMER: Final = f"{CUSTOMERS}/:customer_id"
# What a badge says of each state, with its kind.
STATES: Final = {
    CustomerState.OFFERED: ("info", marked("Offered")),
    CustomerState.ACTIVE: ("good", marked("Active")),
    CustomerState.PAUSED: ("warning", marked("Paused")),
}


class CustomerOwnerForm(ProtectedForm, kw_only=True):
    """The address of the person who shall own the organization of a customer."""

    email: str = ""


class CustomerExternalIdForm(ProtectedForm, kw_only=True):
    """The vendor's own id of a customer; an empty one is none."""

    external_id: str = ""


@routes.get(CUSTOMER, refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_customer_page(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: CustomerExternalIdForm | CustomerOwnerForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a customer of a service or an open offer: its state, its owner, what is made for it, and who uses it.

    One that has ended is shown as long as it can be restored.
    """
    try:
        at, found = await opened_service(
            call, org_slug, service_slug, Operation.CUSTOMERS_READ, found_customers.show_in_detail, customer_id
        )
    except CustomerUnknown:
        return await _ended_page(call, org_slug, service_slug, customer_id)
    customer, owner = found.numbers.customer, found.owner
    is_of_owner = isinstance(form, CustomerOwnerForm)
    typed_id = form.external_id if isinstance(form, CustomerExternalIdForm) else customer.external_id or ""
    typed_email = form.email if isinstance(form, CustomerOwnerForm) else owner.email if owner is not None else ""
    return service_page(
        call,
        "customers/customers_one.html",
        at,
        program=Program(
            "customers_change_customer", org_slug, service_slug, customer_id, body={"external_id": typed_id or None}
        ),
        besides=_programs_of(org_slug, service_slug, found, typed_email),
        done=query.done if query is not None else "",
        refusal=refusal,
        problems=problems_of(None if is_of_owner else refusal),
        owner_problems=problems_of(refusal if is_of_owner else None),
        customer=customer,
        figures=found.numbers.figures,
        active_people=found.active_people,
        progress=found.progress,
        step=STEPS[found.progress.step] if found.progress.step is not None else "",
        troubles=shown_troubles(found.progress.troubles),
        owner=owner,
        is_owner_link_open=owner is not None and call.installation.clock() < owner.expires_at,
        typed_email=typed_email,
        parts=rows_of_parts(found),
        opened=[PARTS[part.value] for part in found.parts],
        refused=shown_refusals(found.refused or (), org_slug, service_slug, customer_id),
        lacks_why=at.reader.lacks(Operation.SIGN_INS_EXPLAIN),
        states=STATES,
        offered_until=customer.created_at + OFFER_LIFETIME,
        typed=typed_id,
        external_id_max=EXTERNAL_ID_CHARACTERS_MAX,
        customers=page_of_customers(org_slug, service_slug),
        customer_page=page_of_customer(org_slug, service_slug, customer_id),
        lacks_change=at.lacks_lasting(Operation.CUSTOMERS_CHANGE),
        lacks_lasting=at.lacks_lasting(Operation.CUSTOMERS_CHANGE),
        lacks_people=at.lacks(Operation.CUSTOMER_PEOPLE_READ),
        lacks_owner=at.lacks(Operation.CUSTOMER_OWNER_NAME),
    )


@routes.post(
    f"{CUSTOMER}/owner",
    refuses=(BadRequest, ServiceUnknown, CustomerUnknown, NotUnclaimed, RateLimitExceeded),
)
@on_service_in_console(Operation.CUSTOMER_OWNER_NAME)
@shows_again(show_customer_page, BadRequest, NotUnclaimed, RateLimitExceeded)
async def ask_to_own_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerOwnerForm
) -> PageOrRedirect:
    """Mail the link that makes its reader the owner of a customer; programs use `POST …/customers/:id/owner`."""
    await call.transact(claiming.name_owner, VendorPath(org_slug, service_slug), customer_id, email=form.email)
    return after(page_of_customer(org_slug, service_slug, customer_id), "customer-owner-asked")


@routes.post(CUSTOMER, refuses=(BadRequest, ServiceUnknown, CustomerUnknown, ExternalIdTaken, Forbidden))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
@shows_again(show_customer_page, BadRequest, ExternalIdTaken)
async def change_external_id(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerExternalIdForm
) -> PageOrRedirect:
    """Change the vendor's own id of a customer; programs use `PATCH …/customers/:customer_id`."""
    changes = {"external_id": form.external_id.strip() or None}
    await call.transact(customers.change, VendorPath(org_slug, service_slug), customer_id, changes)
    return after(page_of_customer(org_slug, service_slug, customer_id), "customer-saved")


@routes.get(f"{CUSTOMER}/metadata", refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_noted_of_customer(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: MetadataForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show what the vendor notes about a customer, which the customer does not see."""
    at, customer = await opened_service(
        call,
        org_slug,
        service_slug,
        Operation.CUSTOMERS_READ,
        lambda uow, _slug, _service: customers.show(uow, VendorPath(org_slug, service_slug), customer_id),
    )
    return service_page(
        call,
        "customers/customers_metadata.html",
        at,
        program=Program(
            "customers_change_customer", org_slug, service_slug, customer_id, body={"metadata": {"plan": "gold"}}
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        customer=customer,
        **metadata_values(customer.metadata, form),
        customer_page=page_of_customer(org_slug, service_slug, customer_id),
        lacks_change=at.lacks_lasting(Operation.CUSTOMERS_CHANGE),
    )


@routes.post(f"{CUSTOMER}/metadata", refuses=(BadRequest, ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
@shows_again(show_noted_of_customer, BadRequest)
async def note_about_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: MetadataForm
) -> PageOrRedirect:
    """Change what the vendor notes about a customer; programs use `PATCH …/customers/:customer_id`."""
    await call.transact(
        customers.change, VendorPath(org_slug, service_slug), customer_id, {"metadata": form.patch.names}
    )
    return after(f"{page_of_customer(org_slug, service_slug, customer_id)}/metadata", "metadata-saved")


@routes.get(f"{CUSTOMER}/pause", refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
async def ask_to_pause_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> Page:
    """Show whose access stops when a customer is paused, in numbers."""
    return await _confirmation(
        call,
        "customers/customers_pause.html",
        Program("customers_change_customer", org_slug, service_slug, customer_id, body={"paused": True}),
        org_slug,
        service_slug,
        customer_id,
    )


@routes.post(f"{CUSTOMER}/pause", refuses=(BadRequest, ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
@shows_again(show_customer_page, BadRequest)
async def pause_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> PageOrRedirect:
    """Pause a customer; programs use `PATCH …/customers/:customer_id` with `paused`."""
    await call.transact(customers.change, VendorPath(org_slug, service_slug), customer_id, {"paused": True})
    return after(page_of_customer(org_slug, service_slug, customer_id), "customer-paused")


@routes.post(f"{CUSTOMER}/resume", refuses=(BadRequest, ServiceUnknown, CustomerUnknown, Forbidden))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
@shows_again(show_customer_page, BadRequest)
async def resume_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> PageOrRedirect:
    """Lift the vendor's pause of a customer; programs use `PATCH …/customers/:customer_id` with `paused`."""
    await call.transact(customers.change, VendorPath(org_slug, service_slug), customer_id, {"paused": False})
    return after(page_of_customer(org_slug, service_slug, customer_id), "customer-resumed")


@routes.get(f"{CUSTOMER}/end", refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
async def ask_to_end_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> Page:
    """Show what ends with a customer, in numbers, or that an offer is withdrawn."""
    return await _confirmation(
        call,
        "customers/customers_ending.html",
        Program("customers_end_customer", org_slug, service_slug, customer_id),
        org_slug,
        service_slug,
        customer_id,
    )


@routes.post(f"{CUSTOMER}/end", refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
async def end_customer_for_good(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> PageOrRedirect:
    """Withdraw an offer, or end the use by a customer; programs use `DELETE …/customers/:customer_id`."""
    await call.transact(customers.end, VendorPath(org_slug, service_slug), customer_id)
    return after(page_of_customers(org_slug, service_slug), "customer-ended")


def page_of_customers(org_slug: str, service_slug: str) -> str:
    """Return the path of the customers of a service in the console."""
    return f"{page_of_service(org_slug, service_slug)}/customers"


def page_of_customer(org_slug: str, service_slug: str, customer_id: UUID) -> str:
    """Return the path of a customer of a service in the console."""
    return f"{page_of_customers(org_slug, service_slug)}/{customer_id}"


def _programs_of(org_slug: str, service_slug: str, found: CustomerInDetail, typed_email: str) -> Sequence[Program]:
    """Return the calls by which programs do the rest of what the page of a customer does."""
    customer_id, programs = found.numbers.customer.id, list[Program]()
    if found.numbers.customer.is_accepted:
        month = {"month": f"{found.month:%Y-%m}"}
        programs.append(Program("customers_show_usage", org_slug, service_slug, customer_id, query=month))
    if found.numbers.customer.is_unclaimed:
        asked = {"email": typed_email or "ann@globex.example"}
        programs.append(Program("customers_name_owner", org_slug, service_slug, customer_id, body=asked))
    if found.parts:
        link = {"parts": [one.value for one in found.parts]}
        programs.append(
            Program("setup_links_of_customers_create_customer_link", org_slug, service_slug, customer_id, body=link)
        )
    return programs


async def _ended_page(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> Page:
    at, ended = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMERS_READ, made_customers.show_ended, customer_id
    )
    return service_page(
        call,
        "customers/customers_ended.html",
        at,
        program=Program("customers_restore_customer", org_slug, service_slug, customer_id),
        ended=ended,
        customers=page_of_customers(org_slug, service_slug),
        customer_page=page_of_customer(org_slug, service_slug, customer_id),
        lacks_restoring=at.lacks(Operation.CUSTOMER_OFFER),
    )


async def _confirmation(
    call: Call,
    template: str,
    program: Program,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
) -> Page:
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMERS_CHANGE, found_customers.show, customer_id
    )
    return service_page(
        call,
        template,
        at,
        program=program,
        customer=found.customer,
        figures=found.figures,
        customer_page=page_of_customer(org_slug, service_slug, customer_id),
    )
