"""The page that closes one's own account."""

from typing import Final

from core.accounts import closing
from core.accounts.closing import BelongsToOrganizations, GovernsPlatform, OwnsDeletedOrganization
from core.errors import Forbidden
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.frame.languages import language_of, translated
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import recent
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

CLOSING: Final = f"{ACCOUNT}/closing"


@routes.get(CLOSING)
@in_browser_in_person
async def show_closing(call: Call) -> Page:
    """Ask whether you want to close your account."""
    await recent(call)
    return account_page(call, "accounts/closing.html")


@routes.post(CLOSING, refuses=(BelongsToOrganizations, OwnsDeletedOrganization, GovernsPlatform, Forbidden))
@in_browser_in_person
async def close_account(call: Call) -> PageOrRedirect:
    """Close your account and sign this browser out; programs use `DELETE /api/user`."""
    await recent(call)
    reopenable_until = await call.transact(closing.close)
    language = language_of(call)
    browsers.end_session(call)
    return page(
        call,
        "frame/message.html",
        heading=translated(call, "Your account is closed"),
        text=language.markup(
            "If you change your mind, sign in until %(moment)s: that opens the account again. After that, your personal"
            " data are deleted for good.",
            moment=language.moment(reopenable_until),
        ),
        back=None,
        request_id=None,
    )
