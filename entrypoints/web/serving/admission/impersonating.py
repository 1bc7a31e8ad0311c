"""Impersonation in a browser: a platform owner acts as another user, with a second cookie beside their own session's.

While it is valid, the browser acts as that user on every page (`Call.browser`), and the owner's own session stays
untouched below it (`Call.acts_for`). When it ends, for any reason, the browser shows so before it acts for the owner
again: no page and no form passes from one person to the other unseen.
"""

from __future__ import annotations

from typing import Final

from core.errors import Forbidden
from core.sessions import browser_sessions
from core.sessions.browser_sessions import BrowserCookie
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.serving.admission.browsers import IMPERSONATION_COOKIE, cookie_name
from entrypoints.web.serving.calls import Call

# The form of every page in such a session, and of the page that says that it has ended.
STOP: Final = "/app/impersonation/stop"


class ImpersonationOver(Forbidden):
    """The browser acted as another user, which has ended since its last page."""

    default_message = (
        "You no longer act as another person. This has ended, after an hour or because it was ended elsewhere, and what"
        " you have asked for just now was not done. Continue as yourself."
    )


class StopFirst(Forbidden):
    """The page is only for users themselves: it signs in or out, or governs the platform."""

    default_message = (
        "This is closed while you act as another person. Signing in and out, applications, and the pages of the"
        " platform are for yourself only. Stop first, and open it again."
    )


class OwnHandOnly(Forbidden):
    """The page changes how a user signs in, or what only the user themselves decides."""

    default_message = (
        "Only this person can do this. It is closed while you act as another person, because it would give or take"
        " access to the account. Ask the person to do it."
    )


async def enter(call: Call) -> None:
    """Let the browser act as another user, if it has begun to; raise `ImpersonationOver` when this has ended."""
    own, secret = call.browser, cookie_of(call.request, cookie_name(call, IMPERSONATION_COOKIE))
    if own is None or not secret:
        return
    acting = await call.read(browser_sessions.find_impersonation, own, secret)
    if acting is None:
        call.has_acted = True
        raise ImpersonationOver
    call.acts_for, call.browser, call.session_id = own, acting, acting.session_id
    if browser_sessions.needs_upkeep(acting, at=call.installation.clock()):
        await call.step(browser_sessions.keep_up, acting)


def begin(call: Call, cookie: BrowserCookie) -> None:
    """Give the browser the cookie of an impersonation.

    It lasts as long as the cookie of the owner's session, so that the browser can show the end.
    """
    call.set_cookie(cookie_name(call, IMPERSONATION_COOKIE), cookie.secret.reveal(), lifetime=cookie.lifetime)


def end(call: Call) -> None:
    """Take the cookie of an impersonation from the browser, which is the owner's again."""
    call.forget_cookie(cookie_name(call, IMPERSONATION_COOKIE))
