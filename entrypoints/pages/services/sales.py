"""The pages of what is sold: the changes behind the plots of an organization, and the revenue on the platform."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.ids import id_or_none
from core.organizations.access import Operation
from core.services import sales
from core.services.sales import ChangeFilter, ChangeKind, SubscriptionChange
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    BILLING,
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    ROWS_SHOWN,
    PagedQuery,
    Program,
    console_page,
    opened_for_platform,
    page_of,
)
from entrypoints.pages.console.lists import ConsoleList, ways
from entrypoints.pages.console.prices import amount_of, price
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import console_pages, platform_pages
from entrypoints.pages.services.subscriptions import plan_choices
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_console, platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

CHANGES: Final = f"{BILLING}/sold-changes"
# The change of a subscription, with the kind of its badge.
KINDS: Final = {
    ChangeKind.BEGUN: ("good", marked("Begun")),
    ChangeKind.ENDED: ("bad", marked("Ended")),
    ChangeKind.MOVED_IN: ("info", marked("To this plan")),
    ChangeKind.MOVED_OUT: ("info", marked("From this plan")),
    ChangeKind.LATE: ("warning", marked("Payment overdue")),
    ChangeKind.SETTLED: ("good", marked("Paid again")),
    ChangeKind.PRICED: ("info", marked("New price of the plan")),
}
# More services are in no choice; the links of the tables lead to each.
SERVICES_MAX: Final = 100
# Days outside of these have no counterpart in the database.
_FIRST_DAY: Final = date(1970, 1, 1)
_LAST_DAY: Final = date(9998, 12, 31)


class ChangesQuery(PagedQuery, kw_only=True):
    """Which changes to show."""

    kind: Annotated[str, msgspec.Meta(description="Only changes of this kind.", max_length=20)] = ""
    since: Annotated[str, msgspec.Meta(description="The first day, in UTC.", max_length=10)] = ""
    until: Annotated[str, msgspec.Meta(description="The last day, in UTC.", max_length=10)] = ""
    service: Annotated[str, msgspec.Meta(description="Only changes of this service, by its id.", max_length=50)] = ""
    plan: Annotated[str, msgspec.Meta(description="Only changes of this plan, by its id.", max_length=50)] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name; what is no kind, no day or no id filters nothing."""
        wanted = ChangeFilter(
            kind=ChangeKind(self.kind) if self.kind in set(ChangeKind) else None,
            since=_day_of(self.since),
            until=_day_of(self.until),
            service_id=id_or_none(self.service),
            plan_id=id_or_none(self.plan),
        )
        return {"wanted": wanted}


FOUND: Final = ConsoleList[SubscriptionChange](
    path=CHANGES,
    found=sales.changes,
    file="sold-changes",
    name="changes",
    columns={
        "time": lambda one: one.at,
        "change": lambda one: one.kind.value,
        "email": lambda one: one.email,
        "user_id": lambda one: one.user_id,
        "service": lambda one: one.service_slug,
        "plan": lambda one: one.plan_name,
        "subscriptions": lambda one: one.live,
        "monthly_revenue": lambda one: amount_of(one.cents, one.currency),
        "currency": lambda one: one.currency,
    },
)


@routes.get(CHANGES)
@in_console(Operation.BILLING_READ)
async def show_changes(call: Call, org_slug: str, query: ChangesQuery) -> Page:
    """Show the changes of what an organization sells, by kind, day, service and plan."""
    standing, found = await FOUND.opened(call, Operation.BILLING_READ, org_slug, query=query)
    names = await call.read(sales.names, org_slug)
    language = language_of(call)
    services = sorted((name, str(service_id)) for service_id, (name, _) in names.services.items())
    return console_page(
        call,
        "services/sales_changes.html",
        standing,
        # There is no call for what is sold; the feed of events has each change.
        program=Program("events_read_events", org_slug),
        **FOUND.values(query, found, org_slug),
        prices={one.id: price(language, one.cents, one.currency) for one in found.found},
        kinds=KINDS,
        kind_choices=[("", marked("Every change")), *((kind.value, text) for kind, (_, text) in KINDS.items())],
        services=[("", marked("Every service")), *((one, name) for name, one in services[:SERVICES_MAX])],
        plans=plan_choices(names, query.plan),
        lacks_end_users=standing.lacks(Operation.END_USERS_READ),
        people=f"{page_of(org_slug)}/people/end-users",
        billing_page=f"{page_of(org_slug)}/billing",
    )


@routes.get(f"{CHANGES}/sold-changes.csv")
@in_console(Operation.BILLING_READ)
async def download_changes(call: Call, org_slug: str, query: ChangesQuery) -> CsvFile:
    """Download the changes that a search finds, at most 100,000, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, query=query)


def _day_of(text: str) -> date | None:
    """Return the day that a text names; None for any other text."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if _FIRST_DAY <= day <= _LAST_DAY else None


platform_routes: Routes = platform_pages()

REVENUE: Final = f"{PLATFORM}/revenue"
_DIGITS_MAX: Final = 18


class RevenueQuery(Query, kw_only=True):
    """The currency, and from where on the list is shown."""

    currency: Annotated[str, msgspec.Meta(description="The code of a currency.", max_length=3)] = ""
    after: Annotated[str, msgspec.Meta(description="The position after which the page begins.", max_length=60)] = ""

    @property
    def position(self) -> tuple[int, UUID] | None:
        """The position after which the page begins; None for the begin of the list, also where it is damaged."""
        digits, _, text = self.after.partition("_")
        organization_id = id_or_none(text)
        is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS_MAX
        return (int(digits), organization_id) if is_number and organization_id is not None else None


@platform_routes.get(REVENUE)
@platform_support_in_console
async def show_revenue(call: Call, query: RevenueQuery) -> Page:
    """Show the sales of the platform's organizations in a currency, the highest first."""
    standing, found = await opened_for_platform(
        call, sales.revenue, currency=query.currency.lower(), after=query.position, limit=ROWS_SHOWN
    )
    language = language_of(call)
    return console_page(
        call,
        "services/sales_revenue.html",
        standing,
        # There is no call for revenue; each organization has its own.
        program=Program("platform_organizations_list_organizations"),
        found=found,
        total=price(language, found.sold.cents, found.currency),
        rows=[(one, price(language, one.sold.cents, found.currency)) for one in found.sellers],
        currencies=[(currency, currency.upper()) for currency in found.currencies],
        page=REVENUE,
        organizations=PLATFORM_ORGANIZATIONS,
        **ways(
            REVENUE,
            {"currency": found.currency},
            after=query.after,
            following=f"{found.next[0]}_{found.next[1]}" if found.next is not None else None,
        ),
    )
