"""The page that sets or changes one's own password, and the one that asks for a change after a sign-in.

Browsers and password managers find the page by `/.well-known/change-password`.
"""

from typing import Annotated, Final

import msgspec

from core.accounts import passwords
from core.accounts.passwords import (
    CurrentPasswordWrong,
    NoPasswordSet,
    PasswordAlreadySet,
    PasswordBreached,
    PasswordTooCommon,
)
from core.errors import BadRequest, Forbidden, RateLimitExceeded, Refusal
from core.sign_in import own_account
from entrypoints.pages.console.account import ACCOUNT, account_page, after
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.shared.accounts.passwords import change, set_first
from entrypoints.web.serving.admission.browsers import SIGN_IN, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person, public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = account_pages()

PASSWORD: Final = f"{ACCOUNT}/password"
# Stands between a sign-in with a password that has leaked and where it leads.
PASSWORD_NOTICE: Final = "/app/password-notice"  # noqa: S105 - a path, not a secret


class PasswordQuery(ReturnQuery, kw_only=True):
    """What was just done, and where a sign-in leads that asks for the change."""

    done: Annotated[str, msgspec.Meta(description="What was just done, as a word.")] = ""


class PasswordChangeForm(WayForm, kw_only=True):
    """The present password, if there is one, and the new one twice."""

    current_password: str = ""
    new_password: str = ""
    repeated: str = ""


async def _page(
    call: Call,
    *,
    query: PasswordQuery | None = None,
    form: PasswordChangeForm | None = None,
    refusal: Refusal | None = None,
    repeated_problem: str = "",
) -> Page:
    return account_page(
        call,
        "accounts/passwords.html",
        done=query.done if query is not None else "",
        way=form.way if form is not None else query or ReturnQuery(),
        refusal=refusal or (BadRequest(repeated_problem) if repeated_problem else None),
        email=call.in_browser.email,
        ways=await call.read(own_account.read_ways),
        is_current_wrong=isinstance(refusal, CurrentPasswordWrong),
        repeated_problem=repeated_problem,
    )


@routes.get(PASSWORD)
@in_browser_in_person
async def show_password(call: Call, query: PasswordQuery) -> Page:
    """Show the form for a new password."""
    if not await call.read(passwords.is_set):
        await recent_for_form(call)
    return await _page(call, query=query)


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
    """Set or change your password; all other sessions end when it changes.

    After a sign-in that asks for the change, it redirects to the target of the sign-in.
    """
    if form.new_password != form.repeated:
        return await _page(call, form=form, repeated_problem=marked("The passwords do not match."))
    if await call.read(passwords.is_set):
        # The present password proves what a recent sign-in would.
        await change(call, form.current_password, form.new_password)
    else:
        await recent(call, page=PASSWORD)
        await set_first(call, form.new_password)
    return see_other(form.way.on(SIGN_IN)) if any(form.way.fields.values()) else after(PASSWORD, "password-saved")


@routes.get(PASSWORD_NOTICE)
@on_custom_hosts
@in_browser
async def show_password_notice(call: Call, query: ReturnQuery) -> Page:
    """Ask to change a password that is known from a data breach, before the target of the sign-in is opened."""
    return form_page(call, "accounts/passwords_notice.html", **await returns.context(call, query), on=query.on(SIGN_IN))


@routes.get("/.well-known/change-password", status=303)
@on_custom_hosts
@public
async def find_password_page(call: Call) -> None:
    """Redirect to the page that changes one's own password, as browsers and password managers expect it."""
    call.headers["Location"] = f"{call.installation.settings.base_url}{PASSWORD}"
