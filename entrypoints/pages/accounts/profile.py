"""The first page of one's own account: what there is to know and to change, by section."""

from core.accounts import names
from core.sign_in import own_account
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.serving.admission.credentials import in_browser
from entrypoints.web.serving.calls import Call

routes = account_pages()


@routes.get(ACCOUNT)
@in_browser
async def show_account(call: Call, query: DoneQuery) -> Page:
    """Show an overview of your account."""
    figures = await call.read(own_account.read_figures)
    # Who uses an application of others has not come to found an organization.
    is_founder = not (figures.organizations or figures.applications or call.in_browser.confined_to)
    return account_page(
        call,
        "accounts/profile.html",
        done=query.done,
        is_founder=is_founder,
        email=call.in_browser.email,
        name=(await call.read(names.of_caller)).own,
        ways=await call.read(own_account.read_ways),
        figures=figures,
    )
