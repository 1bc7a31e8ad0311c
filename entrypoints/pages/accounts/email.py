"""The page with one's own address: asking for another one, and dropping that."""

from typing import Annotated, Final

from core.accounts import email_changes, profile
from core.accounts.email_changes import NewAddressTaken
from core.errors import BadRequest, Forbidden, Refusal
from core.rate_limits import RateLimit
from entrypoints.pages.account_pages import ACCOUNT, Outcome, account_page, address_after, after
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.web.answers import Status
from entrypoints.web.browsers import ProtectedForm, recent
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("account pages", "Looking after your own account in a browser.", refusal_page)

EMAIL: Final = f"{ACCOUNT}/email"


class NewAddress(ProtectedForm, kw_only=True):
    """The address to change to."""

    email: str = ""


@routes.get(EMAIL)
@in_browser
async def show_email(call: Call, query: Outcome) -> Page:
    """Show your email address, and the one that you have asked to change to."""
    await recent(call)
    return await _page(call, done=query.done)


@routes.post(EMAIL, limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden, NewAddressTaken))
@in_browser
async def ask_for_change(call: Call, form: NewAddress) -> Page | Annotated[None, Status(303)]:
    """Ask to change your email address; programs use `PATCH /api/user`."""
    await recent(call, page=EMAIL)
    try:
        await call.transact(email_changes.request, form.email)
    except (BadRequest, NewAddressTaken) as refusal:
        return await _page(call, refusal=refusal, typed=form.email)
    return after(EMAIL, "address-asked")


@routes.post(f"{EMAIL}/drop", status=303, limits=(RateLimit.EMAIL_CHANGE,), refuses=(Forbidden,))
@in_browser
async def drop_change(call: Call) -> None:
    """Drop the change of address that waits for the link in the mail."""
    await recent(call, page=EMAIL)
    # Asking for the present address drops an earlier request.
    await call.transact(email_changes.request, call.in_browser.email)
    call.headers["Location"] = address_after(EMAIL, "address-dropped")


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None, typed: str = "") -> Page:
    mine = await call.read(profile.read)
    present = call.in_browser.email
    return account_page(
        call,
        "account_email.html",
        done=done,
        refusal=refusal,
        email=present,
        requested=mine.email if mine.email != present else None,
        typed=typed,
    )
