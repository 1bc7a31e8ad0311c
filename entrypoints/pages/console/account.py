"""What the pages of one's own account share: their frame, and what was just done.

Every page is below `/app/account` and calls the use cases of the JSON interface. A form that succeeded redirects to its
page with a word in the query, which the page shows as a sentence.
"""

from __future__ import annotations

from typing import Any, Final

from quart import Response

from core.errors import Refusal
from entrypoints.pages.console.crumbs import way_of
from entrypoints.pages.console.sections import OF_ACCOUNT
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.pages.frame.rendering import form_page
from entrypoints.pages.manual import links
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

ACCOUNT: Final = "/app/account"
# What a form has just done, by the word in the address of its page.
OUTCOMES: Final = {
    "name-saved": marked("Your name is saved."),
    "address-asked": marked("We have sent a mail to the new address. Open its link to make the change."),
    "address-dropped": marked("The change of address is dropped."),
    "password-saved": marked("Your new password is saved, and every other session has ended."),
    "factor-on": marked("The second factor is on. Signing in asks for it from now on."),
    "factor-off": marked("The second factor is off. Signing in asks for none any more."),
    "factor-removed": marked("The passkey is a second factor no longer. You can still sign in with it."),
    "app-removed": marked("The authenticator app is removed."),
    "codes-renewed": marked("These are your new backup codes. The earlier ones no longer work."),
    "passkey-added": marked("The passkey is added. You can sign in with it."),
    "passkey-removed": marked("The passkey is removed."),
    "renamed": marked("The new name is saved."),
    "device-removed": marked("The device is removed, and its sessions have ended."),
    "session-ended": marked("The session has ended."),
    "service-ended": marked("All your sessions at the application have ended."),
    "disconnected": marked("The application is disconnected, and your sessions there have ended."),
    "others-ended": marked("All other sessions have ended."),
    "linked": marked("The account is linked. You can sign in with it."),
    "unlinked": marked("The account is unlinked."),
    "joined": marked("You are a member of the organization now."),
    "declined": marked("You declined the invitation."),
    "left": marked("You left the organization."),
}


def account_page(
    call: Call,
    template: str,
    *,
    done: str = "",
    refusal: Refusal | None = None,
    **values: Any,
) -> Response:
    """Return a page of the account, with what was just done, or with what was refused."""
    return form_page(
        call,
        template,
        status=refusal.code.status if refusal is not None else 200,
        # Its palette asks for what is typed.
        connects=True,
        # Another word in the address means nothing.
        outcome=language_of(call).known(OUTCOMES.get(done, "")),
        problem=problem_of(refusal),
        # The account belongs to its person alone, whatever organization the way here was of.
        brand=None,
        sections=OF_ACCOUNT,
        manual=links.OF_ACCOUNT,
        **way_of(call),
        **values,
    )


def address_after(page: str, done: str) -> str:
    """Return the address of a page that shows what was done."""
    assert done in OUTCOMES, "no sentence says what was done"
    return f"{page}?done={done}"


def after(page: str, done: str) -> Response:
    """Return the response that leads back to a page, which shows what was done."""
    return see_other(address_after(page, done))
