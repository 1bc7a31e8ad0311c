"""The page that sets or changes one's own password."""

from typing import Annotated, Final

from core.accounts import passwords
from core.accounts.passwords import CurrentPasswordWrong, NoPasswordSet, PasswordAlreadySet
from core.errors import BadRequest, Forbidden, RateLimitExceeded, Refusal
from entrypoints.http.accounts.passwords import FirstPassword, PasswordChange, change_password, set_password
from entrypoints.pages.account_pages import ACCOUNT, Outcome, account_page, after
from entrypoints.pages.languages import marked
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.web.answers import Status
from entrypoints.web.browsers import ProtectedForm, recent
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("account pages", "Looking after your own account in a browser.", refusal_page)

PASSWORD: Final = f"{ACCOUNT}/password"


class PasswordChangeForm(ProtectedForm, kw_only=True):
    """The present password, if there is one, and the new one twice."""

    current_password: str = ""
    new_password: str = ""
    repeated: str = ""


@routes.get(PASSWORD)
@in_browser
async def show_password(call: Call, query: Outcome) -> Page:
    """Show the form for a new password."""
    return await _page(call, done=query.done)


@routes.post(
    PASSWORD,
    refuses=(CurrentPasswordWrong, NoPasswordSet, PasswordAlreadySet, Forbidden, RateLimitExceeded),
)
@in_browser
async def submit_password(call: Call, form: PasswordChangeForm) -> Page | Annotated[None, Status(303)]:
    """Set or change your password; all other sessions end when it changes."""
    if form.new_password != form.repeated:
        return await _page(call, repeated_problem=marked("The passwords do not match."))
    try:
        if await call.read(passwords.is_set):
            # The present password proves what a recent sign-in would.
            change = PasswordChange(current_password=form.current_password, new_password=form.new_password)
            await change_password(call, change)
        else:
            await recent(call, page=PASSWORD)
            await set_password(call, FirstPassword(new_password=form.new_password))
    except (BadRequest, CurrentPasswordWrong) as refusal:
        return await _page(call, refusal=refusal)
    return after(PASSWORD, "password-saved")


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None, repeated_problem: str = "") -> Page:
    return account_page(
        call,
        "account_password.html",
        done=done,
        refusal=refusal or (BadRequest(repeated_problem) if repeated_problem else None),
        email=call.in_browser.email,
        has_password=await call.read(passwords.is_set),
        is_current_wrong=isinstance(refusal, CurrentPasswordWrong),
        repeated_problem=repeated_problem,
    )
