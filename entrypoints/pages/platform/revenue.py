"""The page of the revenue of the platform's organizations: by currency, those that sell most first."""

from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.services import sales
from entrypoints.pages.console_pages import PLATFORM, ROWS_SHOWN, Program, console_page, opened_for_platform, with_query
from entrypoints.pages.declaring import platform_pages
from entrypoints.pages.languages import language_of
from entrypoints.pages.platform.organizations import ORGANIZATIONS
from entrypoints.pages.prices import price
from entrypoints.pages.rendering import Page
from entrypoints.web.input.decoding import Query, id_or_none
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_support_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

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


@routes.get(REVENUE)
@platform_support_in_console
async def show_revenue(call: Call, query: RevenueQuery) -> Page:
    """Show what the organizations of the platform sell in a currency, those that sell most first."""
    standing, found = await opened_for_platform(
        call, sales.revenue, currency=query.currency.lower(), after=query.position, limit=ROWS_SHOWN
    )
    language = language_of(call)
    return console_page(
        call,
        "platform_revenue.html",
        standing,
        # There is no call for revenue; each organization has its own.
        program=Program(path="/api/platform/organizations"),
        found=found,
        total=price(language, found.sold.cents, found.currency),
        rows=[(one, price(language, one.sold.cents, found.currency)) for one in found.sellers],
        currencies=[(currency, currency.upper()) for currency in found.currencies],
        page=REVENUE,
        organizations=ORGANIZATIONS,
        first=with_query(REVENUE, currency=found.currency) if query.after else "",
        next=with_query(REVENUE, currency=found.currency, after=f"{found.next[0]}_{found.next[1]}")
        if found.next is not None
        else "",
    )
