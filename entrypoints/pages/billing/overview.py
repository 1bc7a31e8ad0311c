"""The page of billing: what an organization pays for and may have, and for sellers what it sells, as plots."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Sequence
from datetime import date
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID

import msgspec

from core.billing import overview, portal
from core.billing.provider import BillingFailed, BillingMode
from core.errors import Refusal
from core.organizations.access import Operation
from core.services import sales
from core.services.sales import ChangeKind, Sales, Sold, SoldPlan
from entrypoints.pages.console.csv_files import CsvFile, csv_file
from entrypoints.pages.console.frame import BILLING, Program, console_page, opened, page_of, with_query
from entrypoints.pages.console.plots import Plot, Point, bars, named_days, steps
from entrypoints.pages.console.prices import amount_of, price
from entrypoints.pages.frame.languages import Language, language_of, marked
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.subscriptions import IN_FORCE
from entrypoints.shared.billing.provider_customers import ensure_customer
from entrypoints.web.input.decoding import Query, number_of
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PERIODS: Final = {30: marked("30 days"), 90: marked("90 days"), 365: marked("365 days")}
# How many days a bar of each period covers.
_BAR_DAYS: Final = {30: 1, 90: 7, 365: 30}
_PERIOD_DEFAULT: Final = 30
# Of more currencies the ones with most subscriptions have plots, and of more plans those with the highest price rows.
PLOTS_MAX: Final = 3
CURRENCIES_MAX: Final = 10
ROWS_MAX: Final = 10
_RANGE: Final = marked("%(start)s to %(end)s")
_REVENUE: Final = marked("Monthly revenue")
_UNIT: Final = marked("Subscriptions")
_UNIT_REVENUE: Final = marked("%(currency)s a month")
_FILES: Final = {
    "days": ("day", "currency", "subscriptions", "overdue", "monthly_revenue"),
    "changes": ("day", "begun", "ended"),
    "plans": (
        *("service", "service_slug", "plan", "plan_id", "currency", "subscriptions", "overdue"),
        *("monthly_revenue", "begun", "ended"),
    ),
}


class BillingQuery(Query, kw_only=True):
    """Of how many days plots are shown."""

    days: Annotated[str, msgspec.Meta(description="30, 90 or 365 days, to today.", max_length=3)] = ""


class BillingFileQuery(BillingQuery, kw_only=True):
    """Which numbers to download."""

    of: Annotated[str, msgspec.Meta(description="`days`, `changes` or `plans`.", max_length=10)] = ""


class SoldLine(NamedTuple):
    """A row of what is sold of a plan or service: a name (None for what is deleted), numbers, and lists behind them."""

    name: str | None
    about: str | None
    sold: Sold
    price: str
    begun: int
    ended: int
    live_list: str
    plans_page: str


class CurrencyLine(NamedTuple):
    """What is sold in a currency."""

    currency: str
    price: str
    sold: Sold


@routes.get(f"{BILLING}/numbers.csv")
@in_console(Operation.BILLING_READ)
async def download_sales(call: Call, org_slug: str, query: BillingFileQuery) -> CsvFile:
    """Download what is sold by day or by plan, for a spreadsheet."""
    shown = await call.read(sales.show, org_slug, days=_days_of(query.days))
    name = query.of if query.of in _FILES else "days"

    async def parts() -> AsyncGenerator[Iterable[Sequence[Any]]]:
        yield rows_of(shown, name)

    return csv_file(f"{org_slug}-sold-{name}", _FILES[name], parts())


@routes.get(BILLING)
@in_console(Operation.BILLING_READ)
async def show_billing(
    call: Call, org_slug: str, *, query: BillingQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what an organization pays for and may have, and what it sells, as plots."""
    days = _days_of(query.days if query is not None else "")
    standing, shown = await opened(call, org_slug, Operation.BILLING_READ, overview.show, days=days)
    page = f"{page_of(org_slug)}/billing"
    return console_page(
        call,
        "billing/overview.html",
        standing,
        program=_program(call, org_slug),
        refusal=refusal,
        shown=shown,
        page=page,
        organization_page=page_of(org_slug),
        is_sandbox=call.installation.billing.mode is BillingMode.SANDBOX,
        is_for_sale=call.installation.settings.has_billing_sandbox
        or call.installation.billing.mode is not BillingMode.SANDBOX,
        days=days,
        bar_days=_BAR_DAYS[days],
        periods=[(with_query(page, days=number), text, None) for number, text in PERIODS.items()],
        here=with_query(page, days=days),
        files={name: with_query(f"{page}/numbers.csv", of=name, days=days) for name in _FILES},
        **sales_values(language_of(call), shown.sales, page_of(org_slug), bar_days=_BAR_DAYS[days]),
    )


@routes.post(f"{BILLING}/portal", refuses=(BillingFailed,))
@in_console(Operation.BILLING_PORTAL)
@shows_again(show_billing, BillingFailed)
async def lead_to_portal(call: Call, org_slug: str) -> Page:
    """Show the way to the payment provider; programs use `POST /api/organizations/:slug/billing/portal`."""
    billing = call.installation.billing
    return_url = f"{call.installation.settings.base_url}{page_of(org_slug)}/billing"
    wanted = await call.transact(portal.request, org_slug, return_url=return_url, mode=billing.mode)
    customer_id = await ensure_customer(call, wanted.customer_id, wanted.customer)
    address = await billing.open_portal(customer_id, wanted.return_url)
    await call.transact(portal.record_opened, org_slug, mode=billing.mode)
    standing, _ = await opened(call, org_slug, Operation.BILLING_READ, sales.names)
    return console_page(
        call,
        "billing/overview_portal.html",
        standing,
        program=_program(call, org_slug),
        address=address,
        page=f"{page_of(org_slug)}/billing",
    )


def sales_values(language: Language, shown: Sales, organization_page: str, *, bar_days: int) -> dict[str, Any]:
    """Return what the page shows of sales: numbers, plots and tables, each with the lists behind them."""
    page = f"{organization_page}/billing"
    ordered = sorted(shown.now.items(), key=lambda one: (-one[1].live, one[0]))
    parts = [shown.days[max(end - bar_days, 0) : end] for end in range(len(shown.days), 0, -bar_days)][::-1]
    plans = [_plan_line(language, plan, organization_page) for plan in shown.plans]
    return {
        "currencies": [
            CurrencyLine(currency=currency, price=price(language, sold.cents, currency), sold=sold)
            for currency, sold in ordered[:CURRENCIES_MAX]
            if sold != Sold()
        ],
        "live": (sum(sold.live for _, sold in ordered), with_query(f"{page}/sold", status=IN_FORCE)),
        "late": (sum(sold.late for _, sold in ordered), with_query(f"{page}/sold", status="past_due")),
        "revenue_plots": [
            (currency.upper(), _revenue_plot(language, shown, currency, parts)) for currency, _ in ordered[:PLOTS_MAX]
        ],
        "changes_plot": _changes_plot(language, shown, parts, page),
        "plan_lines": plans[:ROWS_MAX],
        "service_lines": _service_lines(language, shown.plans, organization_page)[:ROWS_MAX],
        "rows_max": ROWS_MAX,
    }


def rows_of(shown: Sales, name: str) -> list[Sequence[Any]]:
    """Return the rows of a file; `name` is one of those that the page offers."""
    match name:
        case "changes":
            return [(day, shown.begun[day], shown.ended[day]) for day in shown.days]
        case "plans":
            return [
                (
                    *(one.service_name, one.service_slug, one.plan_name, one.plan_id, one.currency),
                    *(one.sold.live, one.sold.late, amount_of(one.sold.cents, one.currency), one.begun, one.ended),
                )
                for one in shown.plans
            ]
        case _:
            return [
                (day, currency, sold.live, sold.late, amount_of(sold.cents, currency))
                for currency, series in shown.by_day.items()
                for day, sold in zip(shown.days, series, strict=True)
            ]


def _revenue_plot(language: Language, shown: Sales, currency: str, parts: Sequence[Sequence[date]]) -> Plot:
    """Return the steps of the monthly revenue in a currency, at the end of each part, its numbers written as prices."""
    by_day = dict(zip(shown.days, shown.by_day[currency], strict=True))
    days = [part[-1] for part in parts]
    points = [
        Point(label=language.day(day), counts=(max(by_day[day].cents, 0),), name=name)
        for day, name in zip(days, named_days(language, days), strict=True)
    ]
    return steps(
        language,
        language.text(_REVENUE),
        points,
        unit=language.text(_UNIT_REVENUE, currency=currency.upper()),
        written=lambda cents: price(language, cents, currency),
    )


def _changes_plot(language: Language, shown: Sales, parts: Sequence[Sequence[date]], page: str) -> Plot:
    """Return the bars of what has begun and ended, each of which leads to the changes that it counts."""
    points: list[Point] = []
    names = named_days(language, [part[0] for part in parts])
    for part, name in zip(parts, names, strict=True):
        first, last = part[0], part[-1]
        days = {"since": first.isoformat(), "until": last.isoformat()}
        label = language.day(first)
        if first != last:
            label = language.text(_RANGE, start=label, end=language.day(last))
        points.append(
            Point(
                label=label,
                counts=(sum(shown.begun[day] for day in part), sum(shown.ended[day] for day in part)),
                hrefs=(
                    with_query(f"{page}/sold-changes", kind=ChangeKind.BEGUN.value, **days),
                    with_query(f"{page}/sold-changes", kind=ChangeKind.ENDED.value, **days),
                ),
                name=name,
            )
        )
    series = [language.text(text) for text in (marked("Begun"), marked("Ended"))]
    return bars(language, series, points, unit=language.text(_UNIT))


def _plan_line(language: Language, plan: SoldPlan, organization_page: str) -> SoldLine:
    return SoldLine(
        name=plan.plan_name,
        about=plan.service_name,
        sold=plan.sold,
        price=price(language, plan.sold.cents, plan.currency),
        begun=plan.begun,
        ended=plan.ended,
        live_list=with_query(f"{organization_page}/billing/sold", plan=plan.plan_id, status=IN_FORCE),
        plans_page=_plans_page(plan, organization_page),
    )


def _service_lines(language: Language, plans: Sequence[SoldPlan], organization_page: str) -> list[SoldLine]:
    """Return a line for each service and currency, the highest revenue of a currency first."""
    by_service = defaultdict[tuple[str, UUID], list[SoldPlan]](list)
    for plan in plans:
        by_service[plan.currency, plan.service_id].append(plan)
    lines: list[tuple[str, SoldLine]] = []
    for (currency, _), own in by_service.items():
        sold = Sold(
            live=sum(one.sold.live for one in own),
            late=sum(one.sold.late for one in own),
            cents=sum(one.sold.cents for one in own),
        )
        # The list of subscriptions filters by currency only where the service has more than one.
        only_one = len([key for key in by_service if key[1] == own[0].service_id]) == 1
        slug = own[0].service_slug
        shown = SoldLine(
            name=own[0].service_name,
            about=None,
            sold=sold,
            price=price(language, sold.cents, currency),
            begun=sum(one.begun for one in own),
            ended=sum(one.ended for one in own),
            live_list=with_query(f"{organization_page}/billing/sold", service=slug, status=IN_FORCE)
            if slug and only_one
            else "",
            plans_page=_plans_page(own[0], organization_page),
        )
        lines.append((currency, shown))
    return [shown for _, shown in sorted(lines, key=lambda one: (one[0], -one[1].sold.cents, -one[1].sold.live))]


def _plans_page(plan: SoldPlan, organization_page: str) -> str:
    return f"{organization_page}/services/{plan.service_slug}/plans" if plan.service_slug else ""


def _days_of(text: str) -> int:
    days = number_of(text)
    return days if days in PERIODS else _PERIOD_DEFAULT


def _program(call: Call, org_slug: str) -> Program:
    return Program(
        "billing_open_portal",
        org_slug,
        body={"return_url": f"{call.installation.settings.base_url}{page_of(org_slug)}/billing"},
    )
