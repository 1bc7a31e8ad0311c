"""The page of who signed in to an organization on a day, in a week or in a month: the list behind a plot."""

from typing import TYPE_CHECKING, Final

from core.audit import sign_in_log
from core.audit.sign_in_log import FoundActiveUsers
from core.organizations.access import Operation
from entrypoints.pages.console_pages import ROWS_SHOWN, Program, api, console_page, opened, page_of
from entrypoints.pages.declaring import console_pages
from entrypoints.pages.rendering import Page
from entrypoints.pages.sign_in_lists import ActiveUsersQuery, active_users_values
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_console
from entrypoints.web.serving.routes import Routes

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

routes: Routes = console_pages()

ACTIVE_USERS: Final = "/app/organizations/:org_slug/analytics/active-users"


@routes.get(ACTIVE_USERS)
@in_console(Operation.SIGN_INS_READ)
async def show_active_users(call: Call, org_slug: str, query: ActiveUsersQuery) -> Page:
    """Show who signed in to an organization on a day, or in the seven or thirty days that end with it."""

    def read(uow: "UnitOfWork", slug: str) -> FoundActiveUsers:
        window = sign_in_log.window_of(uow.now.date(), query.last_day, query.number_of_days)
        return sign_in_log.active_users(uow, slug, window, after=query.after_id, limit=ROWS_SHOWN)

    standing, found = await opened(call, org_slug, Operation.SIGN_INS_READ, read)
    page = f"{page_of(org_slug)}/analytics/active-users"
    return console_page(
        call,
        "console_active_users.html",
        standing,
        program=Program(path=f"{api(org_slug)}/analytics/recent-logins"),
        v=active_users_values(query, found, page=page, people=f"{page_of(org_slug)}/people"),
    )
