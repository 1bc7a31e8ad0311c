"""The pages on which a vendor finds the customers of a service, adds one, offers the service or restores a customer.

The page of one customer is in `customers.py`.
"""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.customers import customers, found_customers, made_customers
from core.customers.customers import (
    EXTERNAL_ID_CHARACTERS_MAX,
    AlreadyCustomer,
    AlreadyOffered,
    CustomerUnknown,
    ExternalIdTaken,
    NotForCustomers,
    VendorPath,
)
from core.customers.found_customers import CustomerFilter, CustomersOverview, ListedCustomer
from core.errors import BadRequest, RateLimitExceeded, Refusal
from core.limits import NAME_CHARACTERS_MAX
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import ConsoleListQuery, Program, after, with_query
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.customers.customers import CUSTOMER, CUSTOMERS, STATES, page_of_customer
from entrypoints.pages.customers.setup_progress import STEPS, shown_troubles
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

# What each filter finds.
FILTERS: Final = {
    CustomerFilter.OFFERED: marked("Offered"),
    CustomerFilter.UNCLAIMED: marked("Unclaimed"),
    CustomerFilter.SETTING_UP: marked("Setting up"),
    CustomerFilter.ACTIVE: marked("Active"),
    CustomerFilter.PAUSED: marked("Paused"),
    CustomerFilter.FAILING: marked("Something fails"),
    CustomerFilter.ENDED: marked("Ended"),
}


class FoundCustomersQuery(ConsoleListQuery, kw_only=True):
    """Which customers to show."""

    search: Annotated[
        str, msgspec.Meta(description="A part of the slug, the name or the external id.", max_length=100)
    ] = ""
    state: Annotated[str, msgspec.Meta(description="The state; empty for all that have not ended.")] = ""


FOUND: Final = ConsoleList[ListedCustomer](
    path=CUSTOMERS,
    called="customers",
    listed=found_customers.listed,
    file="customers",
    columns={
        "customer_id": lambda one: one.customer.id,
        "organization": lambda one: one.customer.slug,
        "name": lambda one: one.customer.name,
        "state": lambda one: one.customer.state.value,
        "unclaimed": lambda one: one.customer.is_unclaimed,
        "setup_waits_for": lambda one: one.progress.step.value if one.progress.step is not None else None,
        "fails": lambda one: " ".join(trouble.kind.value for trouble in one.progress.troubles) or None,
        "external_id": lambda one: one.customer.external_id,
        "paused_by_you": lambda one: one.customer.is_paused_by_vendor,
        "shares_directory": lambda one: one.customer.shares_directory,
        "last_sign_in": lambda one: one.customer.last_sign_in_at,
        "created_at": lambda one: one.customer.created_at,
    },
)


class CustomerOfferForm(ProtectedForm, kw_only=True):
    """The slug of the organization to which the service is offered, and the vendor's own id of it."""

    organization: str = ""
    external_id: str = ""


class NewCustomerForm(ProtectedForm, kw_only=True):
    """The name of a customer for which an organization is made, the vendor's own id of it, and who shall own it."""

    name: str = ""
    external_id: str = ""
    owner_email: str = ""


@routes.get(CUSTOMERS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.CUSTOMERS_READ)
async def show_customers(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: FoundCustomersQuery | None = None,
    form: CustomerOfferForm | NewCustomerForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the customers of a service and open offers by their state, each with what its setup waits for and fails."""
    query = query or FoundCustomersQuery()
    at, shown = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMERS_READ, found_customers.overview, **query.rows
    )
    offered = form if isinstance(form, CustomerOfferForm) else CustomerOfferForm()
    new = form if isinstance(form, NewCustomerForm) else NewCustomerForm()
    return service_page(
        call,
        "customers/found_customers.html",
        at,
        program=Program(
            "customers_offer_service",
            org_slug,
            service_slug,
            body={
                "name": new.name or "Globex",
                "external_id": new.external_id or None,
                "owner_email": new.owner_email or "ann@globex.example",
            },
        ),
        done=query.done,
        refusal=refusal,
        **FOUND.values(query, shown.found, org_slug, service_slug),
        numbers=_numbers(shown, query.search, FOUND.page(org_slug, service_slug)),
        choices=[("", marked("All")), *((one.value, text) for one, text in FILTERS.items())],
        ended=shown.ended if query.state == CustomerFilter.ENDED else (),
        is_of_ended=query.state == CustomerFilter.ENDED,
        offered=offered,
        new=new,
        sends_offer=isinstance(form, CustomerOfferForm),
        sends_new=isinstance(form, NewCustomerForm),
        wrong_offered=problems_of(refusal if isinstance(form, CustomerOfferForm) else None),
        wrong_new=problems_of(refusal if isinstance(form, NewCustomerForm) else None),
        has_any=bool(shown.found.found or shown.ended),
        states=STATES,
        steps=STEPS,
        troubles={one.customer.id: shown_troubles(one.progress.troubles) for one in shown.found.found},
        external_id_max=EXTERNAL_ID_CHARACTERS_MAX,
        name_max=NAME_CHARACTERS_MAX,
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
        VendorPath(org_slug, service_slug),
        organization=form.organization.strip(),
        external_id=form.external_id.strip() or None,
    )
    return after(page_of_customer(org_slug, service_slug, offered.id), "customer-offered")


@routes.post(
    f"{CUSTOMERS}/new",
    refuses=(BadRequest, ServiceUnknown, NotForCustomers, ExternalIdTaken, RateLimitExceeded),
)
@on_service_in_console(Operation.CUSTOMER_OFFER)
@shows_again(show_customers, BadRequest, ExternalIdTaken, RateLimitExceeded)
async def add_customer(call: Call, org_slug: str, service_slug: str, form: NewCustomerForm) -> PageOrRedirect:
    """Make a customer with an organization of its own; programs use `POST …/services/:service_slug/customers`."""
    made = await call.transact(
        made_customers.create,
        VendorPath(org_slug, service_slug),
        name=form.name,
        external_id=form.external_id.strip() or None,
        owner_email=form.owner_email.strip() or None,
        is_welcome=call.installation.settings.auto_approve,
    )
    return after(page_of_customer(org_slug, service_slug, made.id), "customer-made")


@routes.post(f"{CUSTOMER}/restore", refuses=(ServiceUnknown, CustomerUnknown, NotForCustomers, ExternalIdTaken))
@on_service_in_console(Operation.CUSTOMER_OFFER)
@shows_again(show_customers, ExternalIdTaken)
async def restore_ended_customer(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> PageOrRedirect:
    """Restore a customer that no person owned when it ended; programs use `POST …/customers/:customer_id/restore`."""
    await call.transact(made_customers.restore, VendorPath(org_slug, service_slug), customer_id)
    return after(page_of_customer(org_slug, service_slug, customer_id), "customer-restored")


def _numbers(shown: CustomersOverview, search: str, page: str) -> list[tuple[str, int, str]]:
    """Return how many customers each filter finds, in words, with the address of the list."""
    found = {
        CustomerFilter.OFFERED: shown.counts.offered,
        CustomerFilter.UNCLAIMED: shown.counts.unclaimed,
        CustomerFilter.SETTING_UP: shown.counts.setting_up,
        CustomerFilter.ACTIVE: shown.counts.active,
        CustomerFilter.PAUSED: shown.counts.paused,
        CustomerFilter.FAILING: shown.counts.failing,
        CustomerFilter.ENDED: len(shown.ended),
    }
    return [(FILTERS[one], count, with_query(page, search=search, state=one.value)) for one, count in found.items()]
