"""The page with one's own address: asking for another one, and dropping that."""

from typing import Final

from core.accounts import email_changes, profile
from core.errors import BadRequest, Forbidden, Refusal
from core.rate_limits import RateLimit
from core.sign_in import own_account
from entrypoints.pages.console.account import ACCOUNT, account_page, address_after, after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

EMAIL: Final = f"{ACCOUNT}/email"


class NewAddress(ProtectedForm, kw_only=True):
    """The address to change to."""

    email: str = ""


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None, form: NewAddress | None = None) -> Page:
    mine = await call.read(profile.read)
    present = call.in_browser.email
    return account_page(
        call,
        "accounts/email_changes.html",
        done=done,
        refusal=refusal,
        ways=await call.read(own_account.read_ways),
        email=present,
        requested=mine.email if mine.email != present else None,
        typed=form.email if form is not None else "",
    )


@routes.get(EMAIL)
@in_browser_in_person
async def show_email(call: Call, query: DoneQuery) -> Page:
    """Show your email address, and the one that you have asked to change to."""
    await recent_for_form(call)
    return await _page(call, done=query.done)


@routes.post(EMAIL, limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden,))
@in_browser_in_person
@shows_again(_page, BadRequest)
async def ask_for_change(call: Call, form: NewAddress) -> PageOrRedirect:
    """Ask to change your email address; programs use `PATCH /api/user`."""
    await recent(call, page=EMAIL)
    await call.transact(email_changes.request, form.email, tells_taken=False)
    return after(EMAIL, "address-asked")


@routes.post(f"{EMAIL}/drop", status=303, limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden,))
@in_browser_in_person
async def drop_change(call: Call) -> None:
    """Drop the change of address that waits for the link in the mail."""
    await recent(call, page=EMAIL)
    # Asking for the present address drops an earlier request.
    await call.transact(email_changes.request, call.in_browser.email)
    call.headers["Location"] = address_after(EMAIL, "address-dropped")
