"""The page with one's own name."""

from typing import Final

from core.accounts import names
from core.errors import BadRequest, Forbidden, Refusal
from core.rate_limits import RateLimit
from entrypoints.pages.console.account import ACCOUNT, account_page, after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

NAME: Final = f"{ACCOUNT}/name"


class NewName(ProtectedForm, kw_only=True):
    """The name to show; without one, nothing is shown."""

    name: str = ""


@routes.get(NAME)
@in_browser_in_person
async def show_name(
    call: Call, *, query: DoneQuery | None = None, refusal: Refusal | None = None, form: NewName | None = None
) -> Page:
    """Show your name."""
    present = (await call.read(names.of_caller)).own
    return account_page(
        call,
        "accounts/names.html",
        done=query.done if query is not None else "",
        refusal=refusal,
        name=form.name if form is not None else present or "",
    )


@routes.post(NAME, limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden,))
@in_browser_in_person
@shows_again(show_name, BadRequest)
async def change_name(call: Call, form: NewName) -> PageOrRedirect:
    """Change your name; programs use `PATCH /api/user`."""
    await call.transact(names.change, form.name.strip() or None)
    return after(NAME, "name-saved")
