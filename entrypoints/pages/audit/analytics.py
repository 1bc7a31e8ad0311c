"""The plots of an organization: its sign-ins by day, reason, method and service, and its active users."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Annotated, Any, Final

import msgspec

from core.audit import sign_in_counts
from core.audit.sign_in_counts import SignInAnalytics
from core.organizations.access import Operation
from entrypoints.pages.console.csv_files import CsvFile, csv_file
from entrypoints.pages.console.frame import Program, console_page, opened, page_of, with_query
from entrypoints.pages.console.sign_in_plots import PERIODS, lists_of, period_days, plot_values
from entrypoints.pages.frame.languages import language_of
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

ANALYTICS: Final = "/app/organizations/:org_slug/analytics"
FILES: Final = ("days", "reasons", "methods", "services", "users")


class AnalyticsQuery(Query, kw_only=True):
    """Of how many days plots are shown."""

    days: Annotated[str, msgspec.Meta(description="7, 30, 90 or 365 days, to today.", max_length=3)] = ""


class AnalyticsFileQuery(AnalyticsQuery, kw_only=True):
    """Which numbers to download."""

    of: Annotated[
        str, msgspec.Meta(description="`days`, `reasons`, `methods`, `services` or `users`.", max_length=10)
    ] = ""


@routes.get(ANALYTICS)
@in_console(Operation.ANALYTICS_READ)
async def show_analytics(call: Call, org_slug: str, query: AnalyticsQuery) -> Page:
    """Show the sign-ins to an organization and its active users as plots."""
    days = period_days(query.days)
    standing, shown = await opened(call, org_slug, Operation.ANALYTICS_READ, sign_in_counts.show, days)
    page = f"{page_of(org_slug)}/analytics"
    return console_page(
        call,
        "audit/analytics.html",
        standing,
        program=Program(
            "analytics_login_trends",
            org_slug,
            query={"start_date": shown.period.start.isoformat(), "end_date": shown.period.end.isoformat()},
        ),
        page=page,
        days=days,
        periods=[(with_query(page, days=number), text, None) for number, text in PERIODS.items()],
        here=with_query(page, days=days),
        files={name: with_query(f"{page}/numbers.csv", of=name, days=days) for name in FILES},
        lacks_lists=standing.lacks(Operation.SIGN_INS_READ),
        shown=plot_values(language_of(call), shown, lists_of(standing, page="analytics")),
    )


@routes.get(f"{ANALYTICS}/numbers.csv")
@in_console(Operation.ANALYTICS_READ)
async def download_analytics(call: Call, org_slug: str, query: AnalyticsFileQuery) -> CsvFile:
    """Download the numbers of a plot for a spreadsheet, day by day where it has days."""
    shown = await call.read(sign_in_counts.show, org_slug, period_days(query.days))
    name = query.of if query.of in FILES else FILES[0]
    columns, rows = rows_of(shown, name)

    async def parts() -> AsyncGenerator[Iterable[Sequence[Any]]]:
        yield rows

    return csv_file(f"{org_slug}-{name}", columns, parts())


def rows_of(shown: SignInAnalytics, name: str) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Return the columns and the rows of a file."""
    figures = shown.figures
    match name:
        case "reasons":
            return ("reason", "refused"), [(one.reason, one.refused) for one in figures.reasons]
        case "methods":
            return ("method", "succeeded", "refused"), [
                (one.provider, one.succeeded, one.refused) for one in figures.methods
            ]
        case "services":
            return ("service_id", "name", "succeeded", "refused"), [
                (one.service_id, one.name, one.succeeded, one.refused) for one in figures.services
            ]
        case "users":
            return ("day", "users", "seven_days", "thirty_days"), [
                (one.day, one.users, one.week, one.month) for one in shown.active
            ]
        case _:
            return ("day", "succeeded", "refused"), [(one.day, one.succeeded, one.refused) for one in shown.days]
