"""The page of who signed in to the platform: the list behind a plot."""

from typing import TYPE_CHECKING, Final

from core.audit import sign_in_log
from core.audit.sign_in_counts import MONTH_DAYS
from core.audit.sign_in_log import FoundActiveUsers
from entrypoints.pages.console_pages import PLATFORM, ROWS_SHOWN, Program, console_page, opened_for_platform
from entrypoints.pages.declaring import platform_pages
from entrypoints.pages.rendering import Page
from entrypoints.pages.sign_in_lists import ActiveUsersQuery, active_users_values
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support_in_console
from entrypoints.web.serving.routes import Routes

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

routes: Routes = platform_pages()

ACTIVE_USERS: Final = f"{PLATFORM}/active-users"


@routes.get(ACTIVE_USERS)
@platform_support_in_console
async def show_active_users_of_platform(call: Call, query: ActiveUsersQuery) -> Page:
    """Show who signed in on a day of the last thirty, or in the seven or thirty days that end today."""

    def read(uow: "UnitOfWork") -> FoundActiveUsers:
        today = uow.now.date()
        window = sign_in_log.window_of(today, query.last_day, query.number_of_days, kept_days=MONTH_DAYS)
        return sign_in_log.active_users_of_platform(uow, window, after=query.after_id, limit=ROWS_SHOWN)

    standing, found = await opened_for_platform(call, read)
    return console_page(
        call,
        "platform_active_users.html",
        standing,
        program=Program(path="/api/platform/users/search", query={"email": "ann@"}),
        v=active_users_values(query, found, page=ACTIVE_USERS, people=f"{PLATFORM}/users"),
    )
