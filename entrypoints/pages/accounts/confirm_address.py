"""The page by which the user of a session proves, with a mailed code, that the account is theirs.

A session that began by a connection's assertion alone opens no more than the connection vouches for. The page leads to
the sign-in of that connection, which asks for the code, and back to the page of the account that needed the proof.
"""

from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec

from core.sign_in.browser_returns import CONFIRMED
from entrypoints.pages.console.account import ACCOUNT
from entrypoints.pages.frame.next_steps import CONFIRM_ADDRESS
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

# The pages of the account that need a confirmed address, by their last segments.
_PAGES: Final = frozenset({"closing", "email", "passkeys", "password", "second-factor"})


class ConfirmQuery(Query, kw_only=True):
    """The page of the account to come back to."""

    page: Annotated[str, msgspec.Meta(description="The last segment of the page's path.")] = ""


@routes.get(CONFIRM_ADDRESS, status=303)
@in_browser_in_person
async def confirm_address(call: Call, query: ConfirmQuery) -> None:
    """Redirect to the sign-in that asks for a mailed code; without a need for one, to the page of the account."""
    confinement = call.in_browser.confinement
    if confinement is None or confinement.role is None:
        call.headers["Location"] = _page(query.page)
        return
    back = f"{CONFIRMED}/{query.page if query.page in _PAGES else 'overview'}"
    named = {"connection_id": str(confinement.connection_id), "return_to": back}
    call.headers["Location"] = f"/auth/upstream?{urlencode(named)}"


@routes.get(f"{CONFIRMED}/:page", status=303)
@in_browser_in_person
async def show_confirmed(call: Call, page: str) -> None:
    """Redirect to the page of the account for which the address was confirmed."""
    call.headers["Location"] = _page(page)


def _page(name: str) -> str:
    return f"{ACCOUNT}/{name}" if name in _PAGES else ACCOUNT
