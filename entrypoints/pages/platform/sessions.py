"""The page that ends all sessions of a user, which says first what ends."""

from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Refusal
from core.platform import sessions
from core.sessions.sessions import SessionsChanged
from entrypoints.pages.console.frame import Program, after, console_page, opened_for_platform
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.users import USER, USERS
from entrypoints.web.input.decoding import number_of
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()


class EndForm(ProtectedForm, kw_only=True):
    """Why the sessions end, and how many the page has shown."""

    reason: str = ""
    seen_sessions: str = ""


@routes.get(f"{USER}/end-sessions", refuses=(UserUnknown,))
@platform_support_in_console
async def ask_to_end_sessions(
    call: Call, user_id: UUID, *, form: EndForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show what ends with all sessions of a user, in numbers."""
    standing, ending = await opened_for_platform(call, sessions.show_all, user_id)
    return console_page(
        call,
        "platform/sessions.html",
        standing,
        program=Program("platform_users_end_sessions_of_user", user_id),
        refusal=refusal,
        ending=ending,
        reason=form.reason if form is not None else "",
        page=f"{USERS}/{user_id}",
    )


@routes.post(f"{USER}/end-sessions", refuses=(UserUnknown, BadRequest, SessionsChanged))
@platform_support_in_console
@shows_again(ask_to_end_sessions, BadRequest, SessionsChanged)
async def end_sessions(call: Call, user_id: UUID, form: EndForm) -> PageOrRedirect:
    """End all sessions of a user; programs use `DELETE /api/platform/users/:user_id/sessions`."""
    await call.transact(sessions.end_all_shown, user_id, reason=form.reason, seen=number_of(form.seen_sessions))
    return after(f"{USERS}/{user_id}/sessions", "sessions-ended")
