"""The pages of the customers of a service: finding them, offering the service, pausing a customer and ending it."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.customers import customers, found_customers, refused_sign_ins
from core.customers.customers import (
    EXTERNAL_ID_CHARACTERS_MAX,
    OFFER_LIFETIME,
    AlreadyCustomer,
    AlreadyOffered,
    CustomerUnknown,
    ExternalIdTaken,
    NotForCustomers,
    ServiceCustomer,
)
from core.customers.relations import CustomerState
from core.errors import BadRequest, Forbidden, RateLimitExceeded, Refusal
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import ROWS_SHOWN, ConsoleListQuery, Program, after
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.metadata import MetadataForm, metadata_values
from entrypoints.pages.customers.refused_sign_ins import shown
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import on_service_in_console
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


class FoundCustomersQuery(ConsoleListQuery, kw_only=True):
    """Which customers to show."""

    search: Annotated[
        str, msgspec.Meta(description="A part of the slug, the name or the external id.", max_length=100)
    ] = ""


FOUND: Final = ConsoleList[ServiceCustomer](
    path=CUSTOMERS,
    called="customers",
    search=found_customers.search,
    listed=found_customers.listed,
    file="customers",
    columns={
        "customer_id": lambda one: one.id,
        "organization": lambda one: one.slug,
        "name": lambda one: one.name,
        "state": lambda one: one.state.value,
        "external_id": lambda one: one.external_id,
        "paused_by_you": lambda one: one.is_paused_by_vendor,
        "shares_directory": lambda one: one.shares_directory,
        "last_sign_in": lambda one: one.last_sign_in_at,
        "created_at": lambda one: one.created_at,
    },
)


class CustomerOfferForm(ProtectedForm, kw_only=True):
    """The slug of the organization to which the service is offered, and the vendor's own id of it."""

    organization: str = ""
    external_id: str = ""


class CustomerExternalIdForm(ProtectedForm, kw_only=True):
    """The vendor's own id of a customer; an empty one is none."""

    external_id: str = ""


@routes.get(CUSTOMERS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_customers(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: FoundCustomersQuery | None = None,
    form: CustomerOfferForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the customers of a service and open offers, by a part of their slug, name or external id."""
    query = query or FoundCustomersQuery()
    at, found = await opened_service(
        call,
        org_slug,
        service_slug,
        Operation.CUSTOMERS_READ,
        found_customers.search,
        **query.filters,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    form = form or CustomerOfferForm()
    return service_page(
        call,
        "customers/customers.html",
        at,
        program=Program(
            "customers_offer_service",
            org_slug,
            service_slug,
            body={"organization": form.organization or "globex", "external_id": form.external_id or None},
        ),
        done=query.done,
        refusal=refusal,
        problems=problems_of(refusal),
        **FOUND.values(query, found, org_slug, service_slug),
        form=form,
        states=STATES,
        external_id_max=EXTERNAL_ID_CHARACTERS_MAX,
        lacks_offer=at.lacks(Operation.CUSTOMER_OFFER),
    )


@routes.get(f"{CUSTOMERS}/customers.csv", refuses=(ServiceUnknown,))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def download_customers(call: Call, org_slug: str, service_slug: str, query: FoundCustomersQuery) -> CsvFile:
    """Download the customers and open offers that a search finds, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, service_slug, query=query)


@routes.post(
    CUSTOMERS,
    refuses=(
        BadRequest,
        ServiceUnknown,
        NotForCustomers,
        AlreadyCustomer,
        AlreadyOffered,
        ExternalIdTaken,
        RateLimitExceeded,
    ),
)
@on_service_in_console(Operation.CUSTOMER_OFFER)
@shows_again(show_customers, BadRequest, AlreadyCustomer, AlreadyOffered, ExternalIdTaken, RateLimitExceeded)
async def offer_service_to(call: Call, org_slug: str, service_slug: str, form: CustomerOfferForm) -> PageOrRedirect:
    """Offer the service to an organization; programs use `POST …/services/:service_slug/customers`."""
    offered = await call.transact(
        customers.offer,
        org_slug,
        service_slug,
        organization=form.organization.strip(),
        external_id=form.external_id.strip() or None,
    )
    return after(page_of_customer(org_slug, service_slug, offered.id), "customer-offered")


@routes.get(CUSTOMER, refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_customer_page(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: CustomerExternalIdForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a customer of a service or an open offer: since when, its last sign-in, and who uses the service for it."""
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMERS_READ, refused_sign_ins.show_customer, customer_id
    )
    customer = found.numbers.customer
    typed = form.external_id if form is not None else customer.external_id or ""
    return service_page(
        call,
        "customers/customers_one.html",
        at,
        program=Program(
            "customers_change_customer", org_slug, service_slug, customer_id, body={"external_id": typed or None}
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        problems=problems_of(refusal),
        customer=customer,
        figures=found.numbers.figures,
        refused=shown(found.refused or (), org_slug, service_slug, customer_id),
        lacks_why=at.reader.lacks(Operation.SIGN_INS_EXPLAIN),
        state=STATES[customer.state],
        offered_until=customer.created_at + OFFER_LIFETIME,
        typed=typed,
        external_id_max=EXTERNAL_ID_CHARACTERS_MAX,
        customers=FOUND.page(org_slug, service_slug),
        customer_page=page_of_customer(org_slug, service_slug, customer_id),
        lacks_change=at.lacks_lasting(Operation.CUSTOMERS_CHANGE),
        lacks_lasting=at.lacks_lasting(Operation.CUSTOMERS_CHANGE),
        lacks_people=at.lacks(Operation.CUSTOMER_PEOPLE_READ),
    )


@routes.post(CUSTOMER, refuses=(BadRequest, ServiceUnknown, CustomerUnknown, ExternalIdTaken, Forbidden))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
@shows_again(show_customer_page, BadRequest, ExternalIdTaken)
async def change_external_id(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerExternalIdForm
) -> PageOrRedirect:
    """Change the vendor's own id of a customer; programs use `PATCH …/customers/:customer_id`."""
    changes = {"external_id": form.external_id.strip() or None}
    await call.transact(customers.change, org_slug, service_slug, customer_id, changes)
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
        call, org_slug, service_slug, Operation.CUSTOMERS_READ, customers.show, customer_id
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
        problems=problems_of(refusal),
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
    await call.transact(customers.change, org_slug, service_slug, customer_id, {"metadata": form.patch.names})
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
    await call.transact(customers.change, org_slug, service_slug, customer_id, {"paused": True})
    return after(page_of_customer(org_slug, service_slug, customer_id), "customer-paused")


@routes.post(f"{CUSTOMER}/resume", refuses=(BadRequest, ServiceUnknown, CustomerUnknown, Forbidden))
@on_service_in_console(Operation.CUSTOMERS_CHANGE)
@shows_again(show_customer_page, BadRequest)
async def resume_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> PageOrRedirect:
    """Lift the vendor's pause of a customer; programs use `PATCH …/customers/:customer_id` with `paused`."""
    await call.transact(customers.change, org_slug, service_slug, customer_id, {"paused": False})
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
    await call.transact(customers.end, org_slug, service_slug, customer_id)
    return after(FOUND.page(org_slug, service_slug), "customer-ended")


def page_of_customer(org_slug: str, service_slug: str, customer_id: UUID) -> str:
    """Return the path of a customer of a service in the console."""
    return f"{page_of_service(org_slug, service_slug)}/customers/{customer_id}"


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
