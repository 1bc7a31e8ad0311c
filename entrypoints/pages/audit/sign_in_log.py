"""The lists behind the plots of sign-ins, of an organization and of the platform: who signed in, and each sign-in."""

from typing import TYPE_CHECKING, Final

from core.audit import sign_in_log
from core.audit.sign_in_counts import MONTH_DAYS
from core.audit.sign_in_log import FoundActiveUsers, FoundSignIns
from core.organizations.access import Operation
from core.positions import Position
from core.services.services import ServiceUnknown
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile
from entrypoints.pages.console.frame import (
    PLATFORM,
    ROWS_SHOWN,
    Program,
    console_page,
    opened,
    opened_for_platform,
    page_of,
)
from entrypoints.pages.console.sign_in_lists import (
    ActiveUsersQuery,
    FoundSignInsQuery,
    active_users_values,
    sign_ins_file,
    sign_ins_values,
)
from entrypoints.pages.frame.languages import language_of
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages, platform_pages
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.web.serving.admission.credentials import in_console, platform_support_in_console
from entrypoints.web.serving.calls import Call
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
        "audit/sign_in_log_active_users.html",
        standing,
        program=Program("analytics_recent_logins", org_slug),
        v=active_users_values(query, found, page=page, people=f"{page_of(org_slug)}/people"),
    )


@routes.get("/app/organizations/:org_slug/analytics/sign-ins")
@in_console(Operation.SIGN_INS_READ)
async def show_sign_ins_of_organization(call: Call, org_slug: str, query: FoundSignInsQuery) -> Page:
    """Show the sign-ins to an organization by day, outcome, reason, method, service and network."""

    def read(uow: "UnitOfWork", slug: str) -> tuple[FoundSignIns, list[tuple[str, str]]]:
        found = sign_in_log.listed(uow, slug, query.asked, after=query.position, limit=ROWS_SHOWN)
        return found, sign_in_log.services_to_choose(uow, slug)

    standing, (found, services) = await opened(call, org_slug, Operation.SIGN_INS_READ, read)
    page = page_of(org_slug)
    return console_page(
        call,
        "audit/sign_in_log.html",
        standing,
        program=Program("analytics_recent_logins", org_slug, query={"limit": str(ROWS_SHOWN)}),
        v=sign_ins_values(
            language_of(call),
            query,
            found,
            page=f"{page}/analytics/sign-ins",
            people=f"{page}/people",
            services=services,
        ),
    )


@routes.get("/app/organizations/:org_slug/analytics/sign-ins/sign-ins.csv")
@in_console(Operation.SIGN_INS_READ)
async def download_sign_ins_of_organization(call: Call, org_slug: str, query: FoundSignInsQuery) -> CsvFile:
    """Download the sign-ins that a search finds, at most 100,000, for a spreadsheet."""

    async def find(after: Position | None) -> FoundSignIns:
        return await call.read(sign_in_log.listed, org_slug, query.asked, after=after, limit=ROWS_AT_ONCE)

    return await sign_ins_file(f"{org_slug}-sign-ins", query, find)


SERVICE_SIGN_INS: Final = "/app/organizations/:org_slug/services/:service_slug/sign-ins"


@routes.get(SERVICE_SIGN_INS, refuses=(ServiceUnknown,))
@in_console(Operation.SIGN_INS_READ)
async def show_sign_ins_of_service(call: Call, org_slug: str, service_slug: str, query: FoundSignInsQuery) -> Page:
    """Show the sign-ins to a service by day, outcome, reason, method and network."""
    at, found = await opened_service(
        call,
        *(org_slug, service_slug, Operation.SIGN_INS_READ, sign_in_log.listed_of_service, query.asked),
        after=query.position,
        limit=ROWS_SHOWN,
    )
    return service_page(
        call,
        "audit/sign_in_log_service.html",
        at,
        program=Program("analytics_recent_logins", org_slug, query={"limit": str(ROWS_SHOWN)}),
        v=sign_ins_values(
            language_of(call),
            query,
            found,
            page=f"{page_of_service(org_slug, service_slug)}/sign-ins",
            people=f"{page_of(org_slug)}/people",
        ),
    )


@routes.get(f"{SERVICE_SIGN_INS}/sign-ins.csv", refuses=(ServiceUnknown,))
@in_console(Operation.SIGN_INS_READ)
async def download_sign_ins_of_service(
    call: Call, org_slug: str, service_slug: str, query: FoundSignInsQuery
) -> CsvFile:
    """Download the sign-ins to a service that a search finds, at most 100,000, for a spreadsheet."""

    async def find(after: Position | None) -> FoundSignIns:
        asked = query.asked
        return await call.read(
            sign_in_log.listed_of_service, org_slug, service_slug, asked, after=after, limit=ROWS_AT_ONCE
        )

    return await sign_ins_file(f"{org_slug}-{service_slug}-sign-ins", query, find)


platform_routes: Routes = platform_pages()

PLATFORM_SIGN_INS: Final = f"{PLATFORM}/sign-ins"


@platform_routes.get(PLATFORM_SIGN_INS)
@platform_support_in_console
async def show_sign_ins_of_platform(call: Call, query: FoundSignInsQuery) -> Page:
    """Show the sign-ins of all organizations and of none, by day, outcome, reason, method and network."""
    standing, found = await opened_for_platform(
        call, sign_in_log.listed_for_platform, query.asked, after=query.position, limit=ROWS_SHOWN
    )
    return console_page(
        call,
        "audit/sign_in_log_platform.html",
        standing,
        program=Program("platform_users_search", query={"email": "ann@"}),
        v=sign_ins_values(language_of(call), query, found, page=PLATFORM_SIGN_INS, people=f"{PLATFORM}/users"),
    )


@platform_routes.get(f"{PLATFORM_SIGN_INS}/sign-ins.csv")
@platform_support_in_console
async def download_sign_ins_of_platform(call: Call, query: FoundSignInsQuery) -> CsvFile:
    """Download the sign-ins that a search finds, at most 100,000, for a spreadsheet."""

    async def find(after: Position | None) -> FoundSignIns:
        # What support reads of one person is recorded.
        return await call.transact(sign_in_log.listed_for_platform, query.asked, after=after, limit=ROWS_AT_ONCE)

    return await sign_ins_file("platform-sign-ins", query, find)


PLATFORM_ACTIVE_USERS: Final = f"{PLATFORM}/active-users"


@platform_routes.get(PLATFORM_ACTIVE_USERS)
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
        "audit/sign_in_log_platform_active_users.html",
        standing,
        program=Program("platform_users_search", query={"email": "ann@"}),
        v=active_users_values(query, found, page=PLATFORM_ACTIVE_USERS, people=f"{PLATFORM}/users"),
    )
