"""The first page of one's own account: what there is to know and to change, by section."""

from core.accounts import profile
from entrypoints.pages.account_pages import ACCOUNT, Outcome, account_page
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("account pages", "Looking after your own account in a browser.", refusal_page)


@routes.get(ACCOUNT)
@in_browser
async def show_account(call: Call, query: Outcome) -> Page:
    """Show an overview of your account."""
    return account_page(
        call,
        "account_overview.html",
        done=query.done,
        email=call.in_browser.email,
        methods=await call.read(profile.sign_in_methods),
    )
