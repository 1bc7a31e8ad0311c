"""The page of the applications that a person may open: a tile for each, once for each customer of a service."""

from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec

from core.customers import my_applications
from core.customers.my_applications import OpenedBy, Tile, position_of
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_browser
from entrypoints.web.serving.calls import Call

routes = account_pages()

MY_APPLICATIONS: Final = f"{ACCOUNT}/my-applications"


class TilesQuery(Query, kw_only=True):
    """Which part of the tiles to show."""

    after: Annotated[str, msgspec.Meta(description="The place of the last tile before these.", max_length=200)] = ""


@routes.get(MY_APPLICATIONS)
@in_browser
async def show_my_applications(call: Call, query: TilesQuery) -> Page:
    """Show the applications that you may open, by name, with a link to each that begins at a known page."""
    after = position_of(query.after)
    found = await call.read(my_applications.list_mine, after=after)
    return account_page(
        call,
        "customers/my_applications.html",
        tiles=[(tile, address_of(tile)) for tile in found.tiles],
        first=MY_APPLICATIONS if after is not None else "",
        next=f"{MY_APPLICATIONS}?{urlencode({'after': str(found.next)})}" if found.next is not None else "",
    )


def address_of(tile: Tile) -> str:
    """Return the address that opens a service; empty for one that is opened from its own page."""
    named = f"?{urlencode({'customer': tile.customer})}" if tile.customer is not None else ""
    match tile.opened_by:
        case OpenedBy.START_PAGE:
            return f"/auth/start/{tile.client_id}{named}"
        case OpenedBy.SAML:
            return f"/api/organizations/{tile.organization_slug}/services/{tile.service_slug}/saml/login{named}"
        case OpenedBy.ITSELF:
            return ""
