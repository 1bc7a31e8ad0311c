"""The page with one's own name."""

from typing import Final

from core.accounts import names
from core.errors import BadRequest, Forbidden, Refusal
from core.rate_limits import RateLimit
from entrypoints.pages.console.account import ACCOUNT, account_page, after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_in_person

routes = account_pages()

NAME: Final = f"{ACCOUNT}/name"


class NewName(ProtectedForm, kw_only=True):
    """The name to show; without one, nothing is shown."""

    name: str = ""


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None, form: NewName | None = None) -> Page:
    present = (await call.read(names.of_caller)).own
    return account_page(
        call,
        "accounts/names.html",
        done=done,
        refusal=refusal,
        name=form.name if form is not None else present or "",
    )


@routes.get(NAME)
@in_browser_in_person
async def show_name(call: Call, query: DoneQuery) -> Page:
    """Show your name."""
    return await _page(call, done=query.done)


@routes.post(NAME, limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden,))
@in_browser_in_person
@shows_again(_page, BadRequest)
async def change_name(call: Call, form: NewName) -> PageOrRedirect:
    """Change your name; programs use `PATCH /api/user`."""
    await call.transact(names.change, form.name.strip() or None)
    return after(NAME, "name-saved")
