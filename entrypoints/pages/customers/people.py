"""The pages of the people of a customer, as its vendor sees them: finding them, the list as a file, roles of one."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.customers import people
from core.customers.customers import CustomerUnknown, VendorPath
from core.customers.people import CustomerPerson, CustomerPersonUnknown, OwnRolesChanged, PeopleFilter
from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import ConsoleListQuery, Program, after, page_of, with_query
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.customers.customers import CUSTOMER, page_of_customer
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PEOPLE: Final = f"{CUSTOMER}/people"
PERSON: Final = f"{PEOPLE}/:user_id"


class CustomerPeopleQuery(ConsoleListQuery, kw_only=True):
    """Which people to show."""

    search: Annotated[str, msgspec.Meta(description="A part of the address or the name.", max_length=100)] = ""
    role: Annotated[
        str,
        msgspec.Meta(
            description="Only people who have this role of the service, given by you or by the customer.", max_length=50
        ),
    ] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name."""
        return {"wanted": PeopleFilter(search=self.search, role=self.role)}


FOUND: Final = ConsoleList[CustomerPerson](
    path=PEOPLE,
    called="people",
    listed=people.listed,
    file="people",
    columns={
        "user_id": lambda one: one.id,
        "email": lambda one: one.email,
        "name": lambda one: one.name,
        "service_roles": lambda one: " ".join(one.service_roles),
        "own_roles": lambda one: " ".join(one.own_roles),
        "last_sign_in": lambda one: one.last_sign_in_at,
    },
)


class OwnRolesForm(ProtectedForm, kw_only=True):
    """The roles that the vendor gives a person, now and as the page has shown them."""

    roles: Annotated[list[str], msgspec.Meta(description="The names of roles of the service.")] = msgspec.field(
        default_factory=list[str]
    )
    seen_roles: Annotated[list[str], msgspec.Meta(description="The roles that the vendor had given before.")] = (
        msgspec.field(default_factory=list[str])
    )


@routes.get(PEOPLE, refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMER_PEOPLE_READ)
async def show_people_of_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, query: CustomerPeopleQuery
) -> Page:
    """Show the people of a customer: those who have signed in or, where it shares its directory, all who may."""
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMER_PEOPLE_READ, people.search, customer_id, **query.rows
    )
    return service_page(
        call,
        "customers/people.html",
        at,
        program=Program(
            "service_customer_users_list_customer_users",
            customer_id,
            query={"q": query.search, "role": query.role},
        ),
        done=query.done,
        **FOUND.values(query, found.rows, org_slug, service_slug, customer_id),
        customer=found.customer,
        titles={role.name: role.title for role in at.service.roles},
        choices=[("", marked("Every role")), *((role.name, role.title) for role in at.service.roles)],
        customer_page=page_of_customer(org_slug, service_slug, customer_id),
    )


@routes.get(f"{PEOPLE}/people.csv", refuses=(ServiceUnknown, CustomerUnknown))
@on_service_in_console(Operation.CUSTOMER_PEOPLE_READ)
async def download_people_of_customer(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, query: CustomerPeopleQuery
) -> CsvFile:
    """Download the people of a customer that a search finds, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, service_slug, customer_id, query=query)


@routes.get(PERSON, refuses=(ServiceUnknown, CustomerUnknown, CustomerPersonUnknown))
@on_service_in_console(Operation.CUSTOMER_PEOPLE_READ)
async def show_person_of_customer(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    user_id: UUID,
    *,
    form: OwnRolesForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a person who has signed in for a customer, with their roles and the form that gives the vendor's own."""
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.CUSTOMER_PEOPLE_READ, people.show, customer_id, user_id
    )
    person = found.person
    titles = {role.name: role.title for role in at.service.roles}
    return service_page(
        call,
        "customers/people_one.html",
        at,
        program=Program(
            "service_customer_users_set_customer_user_roles", customer_id, user_id, body={"roles": person.own_roles}
        ),
        refusal=refusal,
        customer=found.customer,
        person=person,
        service_roles=[titles.get(name, name) for name in person.service_roles],
        own_roles=[titles.get(name, name) for name in person.own_roles],
        boxes=[(role.name, role.title, role.description, None) for role in at.service.roles],
        chosen=form.roles if form is not None else person.own_roles,
        people=FOUND.page(org_slug, service_slug, customer_id),
        why=with_query(f"{page_of(org_slug)}/why", email=person.email, service=service_slug, customer=customer_id),
        lacks_why=at.reader.lacks(Operation.SIGN_INS_EXPLAIN),
        lacks_change=at.lacks(Operation.CUSTOMER_PEOPLE_CHANGE),
    )


@routes.post(
    PERSON, refuses=(BadRequest, ServiceUnknown, CustomerUnknown, CustomerPersonUnknown, OwnRolesChanged, Forbidden)
)
@on_service_in_console(Operation.CUSTOMER_PEOPLE_CHANGE)
@shows_again(show_person_of_customer, BadRequest, OwnRolesChanged)
async def set_own_roles(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, user_id: UUID, form: OwnRolesForm
) -> PageOrRedirect:
    """Give a person of a customer roles; programs use `PUT /api/service/customers/:customer_id/users/:user_id`."""
    await call.transact(
        people.set_roles,
        VendorPath(org_slug, service_slug),
        customer_id,
        user_id,
        form.roles,
        seen=form.seen_roles,
    )
    return after(FOUND.page(org_slug, service_slug, customer_id), "own-roles-saved")
