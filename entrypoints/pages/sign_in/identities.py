"""The page of the external accounts with which one signs in. There are none until providers can be connected."""

from typing import Final

from entrypoints.pages.account_pages import ACCOUNT, Outcome, account_page
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("account pages", "Looking after your own account in a browser.", refusal_page)

IDENTITIES: Final = f"{ACCOUNT}/identities"


@routes.get(IDENTITIES)
@in_browser
async def show_identities(call: Call, query: Outcome) -> Page:
    """Show the external accounts that are linked to yours."""
    return account_page(call, "account_identities.html", done=query.done)
