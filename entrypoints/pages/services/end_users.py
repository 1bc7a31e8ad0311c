"""The pages of the end users of an organization: finding them, one in detail, ending sessions, the list as a file."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.audit import person_records
from core.errors import Refusal
from core.organizations.access import Operation
from core.services import end_users, found_services
from core.services.end_users import EndUserState, EndUserUnknown, ListedEndUser
from core.sessions.sessions import SessionsChanged
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.person_records import people_tabs, record_values
from entrypoints.pages.console.pickers import picker
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.input.decoding import number_of
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

END_USERS: Final = "/app/organizations/:org_slug/people/end-users"
END_USER: Final = f"{END_USERS}/:user_id"
# What a badge says of each state, with its kind.
STATES: Final = {
    EndUserState.ADDED: ("info", marked("Not signed in yet")),
    EndUserState.ACTIVE: ("good", marked("Active")),
    EndUserState.CLOSED: ("warning", marked("Account closed by the person")),
    EndUserState.DEACTIVATED: ("warning", marked("Account deactivated")),
    EndUserState.SUSPENDED: ("warning", marked("Deactivated by your directory")),
}
# More services of one person are counted, so that a page stays small.
SERVICES_SHOWN: Final = 3


class FoundEndUsersQuery(ConsoleListQuery, kw_only=True):
    """Which end users to show."""

    service: Annotated[str, msgspec.Meta(description="Only end users of this service, by its slug.", max_length=50)] = (
        ""
    )

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name."""
        return {"search": self.search, "service": self.service.strip()}


FOUND: Final = ConsoleList[ListedEndUser](
    path=END_USERS,
    found=end_users.found,
    file="end-users",
    columns={
        "email": lambda one: one.email,
        "name": lambda one: one.name,
        "state": lambda one: one.state.value,
        "second_factor": lambda one: one.has_second_factor,
        "last_sign_in": lambda one: one.last_sign_in_at,
        "services": lambda one: " ".join(one.services),
        "plans": lambda one: "; ".join(one.plans),
    },
)


class EndingForm(ProtectedForm, kw_only=True):
    """How many sessions the page has shown."""

    seen_sessions: str = ""


@routes.get(END_USERS)
@in_console(Operation.END_USERS_READ)
async def show_end_users(call: Call, org_slug: str, query: FoundEndUsersQuery) -> Page:
    """Show the end users of an organization, by a part of their address and by service."""
    standing, found = await FOUND.opened(call, Operation.END_USERS_READ, org_slug, query=query)
    services = await call.read(found_services.service_choices, org_slug, Operation.END_USERS_READ)
    return console_page(
        call,
        "services/end_users.html",
        standing,
        program=Program("end_users_list_end_users", org_slug, query={"search": query.search}),
        **FOUND.values(query, found, org_slug),
        service=picker("service", ("", services), chosen=query.service.strip(), keeps=True),
        states=STATES,
        services_shown=SERVICES_SHOWN,
        tabs=people_tabs(standing),
    )


@routes.get(f"{END_USERS}/end-users.csv")
@in_console(Operation.END_USERS_READ)
async def download_end_users(call: Call, org_slug: str, query: FoundEndUsersQuery) -> CsvFile:
    """Download the end users that a search finds, at most 100,000, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, query=query)


@routes.get(END_USER, refuses=(EndUserUnknown,))
@in_console(Operation.END_USERS_READ)
async def show_end_user(call: Call, org_slug: str, user_id: UUID, query: DoneQuery) -> Page:
    """Show an end user of an organization."""
    standing, (end_user, record) = await opened(
        call, org_slug, Operation.END_USERS_READ, person_records.show_end_user, user_id
    )
    return console_page(
        call,
        "services/end_users_one.html",
        standing,
        program=Program("end_users_show_end_user", org_slug, user_id),
        done=query.done,
        end_user=end_user,
        states=STATES,
        is_self=user_id == standing.user_id,
        **record_values(standing, record, user_id, end_user.email),
    )


@routes.get(f"{END_USER}/end", refuses=(EndUserUnknown,))
@in_console(Operation.END_USERS_CHANGE)
async def ask_to_end_sessions(call: Call, org_slug: str, user_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show how many sessions end."""
    standing, ending = await opened(call, org_slug, Operation.END_USERS_CHANGE, end_users.show_ending, user_id)
    return console_page(
        call,
        "services/end_users_sessions.html",
        standing,
        program=Program("end_users_end_sessions_of_end_user", org_slug, user_id),
        refusal=refusal,
        ending=ending,
        page=f"{page_of(org_slug)}/people/end-users/{user_id}",
    )


@routes.post(f"{END_USER}/end", refuses=(EndUserUnknown, SessionsChanged))
@in_console(Operation.END_USERS_CHANGE)
@shows_again(ask_to_end_sessions, SessionsChanged)
async def end_sessions(call: Call, org_slug: str, user_id: UUID, form: EndingForm) -> PageOrRedirect:
    """End the sessions of an end user; programs use `DELETE /api/organizations/:slug/users/:user_id/sessions`."""
    await call.transact(end_users.end_shown, org_slug, user_id, seen=number_of(form.seen_sessions))
    return after(f"{page_of(org_slug)}/people/end-users/{user_id}", "sessions-ended")
