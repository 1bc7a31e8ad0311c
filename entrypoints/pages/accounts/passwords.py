"""The page that sets or changes one's own password."""

from typing import Final

from core.accounts import passwords
from core.accounts.new_passwords import PasswordBreached, PasswordTooCommon
from core.accounts.passwords import CurrentPasswordWrong, NoPasswordSet, PasswordAlreadySet
from core.errors import BadRequest, Forbidden, RateLimitExceeded, Refusal
from core.sign_in import own_ways
from entrypoints.pages.console.account import ACCOUNT, account_page, after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.shared.accounts.passwords import change, set_first
from entrypoints.web.serving.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_in_person

routes = account_pages()

PASSWORD: Final = f"{ACCOUNT}/password"


class PasswordChangeForm(ProtectedForm, kw_only=True):
    """The present password, if there is one, and the new one twice."""

    current_password: str = ""
    new_password: str = ""
    repeated: str = ""


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None, repeated_problem: str = "") -> Page:
    return account_page(
        call,
        "accounts/passwords.html",
        done=done,
        refusal=refusal or (BadRequest(repeated_problem) if repeated_problem else None),
        email=call.in_browser.email,
        ways=await call.read(own_ways.read),
        is_current_wrong=isinstance(refusal, CurrentPasswordWrong),
        repeated_problem=repeated_problem,
    )


@routes.get(PASSWORD)
@in_browser_in_person
async def show_password(call: Call, query: DoneQuery) -> Page:
    """Show the form for a new password."""
    if not await call.read(passwords.is_set):
        await recent_for_form(call)
    return await _page(call, done=query.done)


@routes.post(
    PASSWORD,
    refuses=(
        CurrentPasswordWrong,
        NoPasswordSet,
        PasswordAlreadySet,
        PasswordTooCommon,
        PasswordBreached,
        Forbidden,
        RateLimitExceeded,
    ),
)
@in_browser_in_person
@shows_again(_page, BadRequest, CurrentPasswordWrong)
async def submit_password(call: Call, form: PasswordChangeForm) -> PageOrRedirect:
    """Set or change your password; all other sessions end when it changes."""
    if form.new_password != form.repeated:
        return await _page(call, repeated_problem=marked("The passwords do not match."))
    if await call.read(passwords.is_set):
        # The present password proves what a recent sign-in would.
        await change(call, form.current_password, form.new_password)
    else:
        await recent(call, page=PASSWORD)
        await set_first(call, form.new_password)
    return after(PASSWORD, "password-saved")
