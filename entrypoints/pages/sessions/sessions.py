"""The page of one's own sessions: where the account is signed in, by browser and service, and ending that."""

from typing import Final
from uuid import UUID

from core.errors import Forbidden, NotFound
from core.sessions import sessions
from core.sign_in import own_account
from entrypoints.pages.console.account import ACCOUNT, account_page, address_after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

SESSIONS: Final = f"{ACCOUNT}/sessions"


@routes.get(SESSIONS)
@in_browser
async def show_sessions(call: Call, query: DoneQuery) -> Page:
    """Show where your account is signed in: in this browser, in others, at services, and by programs."""
    mine = await call.read(own_account.list_sessions)
    return account_page(call, "sessions/sessions.html", done=query.done, sessions=mine)


@routes.post(f"{SESSIONS}/end-others", status=303, refuses=(Forbidden,))
@in_browser_in_person
async def end_other_sessions(call: Call) -> None:
    """End all your sessions except this one."""
    await call.transact(sessions.end_my_others)
    call.headers["Location"] = address_after(SESSIONS, "others-ended")


@routes.post(f"{SESSIONS}/at/:service_id/end", status=303, refuses=(NotFound, Forbidden))
@in_browser_in_person
async def end_sessions_of_service(call: Call, service_id: UUID) -> None:
    """End all your sessions at one service."""
    await call.transact(own_account.end_of_service, service_id)
    call.headers["Location"] = address_after(SESSIONS, "service-ended")


@routes.post(f"{SESSIONS}/:session_id/end", status=303, refuses=(NotFound, Forbidden))
@in_browser_in_person
async def end_session(call: Call, session_id: UUID) -> None:
    """End one of your sessions."""
    await call.transact(sessions.end_mine, session_id)
    call.headers["Location"] = address_after(SESSIONS, "session-ended")
