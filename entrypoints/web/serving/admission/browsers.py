"""The browser behind a request: the cookie of its session, the protection of its forms, and the way to the sign-in.

A form carries a token that is bound to the browser session, or to a short-lived cookie before the sign-in, and the
browser must not say that another site sent it. `credentials.py` declares which routes need what.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlencode

from core.accounts.one_time_tokens import TokenPurpose
from core.errors import ErrorCode, Forbidden, Refusal, Unauthorized
from core.rate_limits import RateLimit
from core.secrets import Secret
from core.sessions import browser_sessions
from core.sessions.browser_sessions import BrowserCookie
from core.sessions.caller_limits import ConfinedElsewhere
from core.sessions.callers import RECENT
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission import hosts, pressed_forms
from entrypoints.web.serving.calls import Call

SESSION_COOKIE: Final = "gatehouse_session"
# Beside the cookie of a platform owner's own session: the user as which they act in this browser (`impersonating.py`).
IMPERSONATION_COOKIE: Final = "gatehouse_impersonation"
# Binds the forms of a browser that is not signed in.
FORM_COOKIE: Final = "gatehouse_form"
FORM_LIFETIME: Final = timedelta(hours=1)
# Knows the browser again in which a link was requested that is mailed, as long as any of these links is valid.
LINK_COOKIE: Final = "gatehouse_link"
LINK_LIFETIME: Final = TokenPurpose.VERIFY_EMAIL.lifetime
# Binds a browser to all of its sign-ins with other providers, so that two tabs may sign in at once.
UPSTREAM_COOKIE: Final = "gatehouse_upstream"
# Proposes the address that was typed last on another page of the sign-in: what stands in a link is logged on its way.
ADDRESS_COOKIE: Final = "gatehouse_address"
ADDRESS_LIFETIME: Final = timedelta(minutes=15)
# Of a browser that has opened a setup link.
SETUP_COOKIE: Final = "gatehouse_setup"
# How much of the time in which a sign-in is recent is left for a form.
TIME_TO_TYPE: Final = timedelta(minutes=5)
# What is not escaped in the path of a page.
PATH_CHARACTERS: Final = "/!$&'()*+,;=:@"
HOME: Final = "/app"
SIGN_IN: Final = "/app/sign-in"
SIGN_IN_AGAIN: Final = "/app/sign-in-again"
SIGN_OUT: Final = "/app/sign-out"

# What browsers, also older ones, send with a page that they load in advance.
_PURPOSES: Final = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
# `none` is a request that the user made without any site, such as reloading a page.
_OWN_SITE: Final = frozenset({"same-origin", "none"})


class ProtectedForm(SecretBody, kw_only=True):
    """The base class of the forms of pages: each carries the token of the browser it was made for."""

    form_token: str = ""


class FormRefused(Forbidden):
    """The form does not belong to this browser as it is now, or another site sent it."""

    default_message = (
        "This form is no longer valid. It was open for too long, you have signed in or out since it was opened, or your"
        " browser keeps no cookies. Go back to the page that it was on, load it again, and repeat what you did."
    )


class ImpersonationTooOld(Forbidden):
    """A platform owner who acts as another user must have signed in within `RECENT` for this."""

    default_message = (
        "This needs a sign-in within the last ten minutes, and yours is older. Stop acting as this person, and begin"
        " again: you are asked to sign in again before."
    )


class LoadedAhead(Forbidden):
    """A browser loads a page in advance that can be opened once."""

    default_message = "This page can be opened only once, so it is not loaded in advance. Open it."


class SignInFirst(Unauthorized):
    """The page is for users who are signed in; the answer leads to the sign-in at `location`."""

    default_message = "Sign in first."

    def __init__(self, location: str = SIGN_IN) -> None:
        super().__init__()
        self.location = location


async def find_session(call: Call) -> None:
    """Set the session of the request's cookie, if it is alive.

    The answer leaves a cookie without a session, and one that the browser forgets by itself, as they are: another tab
    may have got a new secret meanwhile, which the answer would take from the browser.
    """
    secret = cookie_of(call.request, cookie_name(call, SESSION_COOKIE))
    if secret is None:
        return
    browser = await call.read(browser_sessions.find, secret)
    if browser is None:
        return
    if browser_sessions.needs_upkeep(browser, at=call.installation.clock()):
        await call.step(browser_sessions.keep_up, browser)
        if browser.stays_signed_in:
            keep_session(call, browser_sessions.kept(browser, secret))
    call.browser = browser
    call.session_id = browser.session_id


def keep_session(call: Call, cookie: BrowserCookie) -> None:
    """Give the browser the cookie of its session."""
    call.set_cookie(cookie_name(call, SESSION_COOKIE), cookie.secret.reveal(), lifetime=cookie.lifetime)


def begin_session(call: Call, cookie: BrowserCookie) -> None:
    """Give the browser the cookie of a new session, and end what its forms and links were bound to before."""
    keep_session(call, cookie)
    call.forget_cookie(cookie_name(call, IMPERSONATION_COOKIE))
    call.forget_cookie(cookie_name(call, FORM_COOKIE))
    call.forget_cookie(cookie_name(call, LINK_COOKIE))
    call.forget_cookie(cookie_name(call, ADDRESS_COOKIE))


def setup_cookie(call: Call) -> str:
    """Return the cookie of a setup link; empty without one."""
    return cookie_of(call.request, cookie_name(call, SETUP_COOKIE)) or ""


def end_session(call: Call) -> None:
    """Delete the cookie of an ended session in the browser, and the one of the links that were requested in it."""
    call.forget_cookie(cookie_name(call, SESSION_COOKIE))
    call.forget_cookie(cookie_name(call, IMPERSONATION_COOKIE))
    call.forget_cookie(cookie_name(call, LINK_COOKIE))


def form_token(call: Call) -> str:
    """Return the token for the forms of the page that answers this request."""
    if call.browser is not None:
        return masked(call.browser.form_token)
    return form_token_before_sign_in(call)


def form_token_before_sign_in(call: Call) -> str:
    """Return the token for forms that use no session, also of a browser that has one."""
    value = binding(call) or secrets.token_urlsafe(32)
    call.set_cookie(cookie_name(call, FORM_COOKIE), value, lifetime=FORM_LIFETIME)
    return masked(browser_sessions.form_token_of(value))


def binding(call: Call) -> str | None:
    """Return the value of the short-lived cookie of a browser that is not signed in, None without one."""
    return cookie_of(call.request, cookie_name(call, FORM_COOKIE)) or None


def link_binding(call: Call) -> str | None:
    """Return the value to which mailed links of this browser are bound, None when it has requested none."""
    return cookie_of(call.request, cookie_name(call, LINK_COOKIE)) or None


def bind_link(call: Call) -> str:
    """Return the value to which a link is bound that this browser requests; the browser keeps it for a day."""
    value = link_binding(call) or secrets.token_urlsafe(32)
    call.set_cookie(cookie_name(call, LINK_COOKIE), value, lifetime=LINK_LIFETIME)
    return value


def upstream_binding(call: Call) -> str | None:
    """Return the value of the cookie that binds a browser to its sign-ins with other providers; None without one."""
    return cookie_of(call.request, cookie_name(call, UPSTREAM_COOKIE)) or None


def require_own_site(call: Call) -> None:
    """Raise `FormRefused` when the browser says that another site sent the request."""
    headers = call.request.headers
    site = headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in _OWN_SITE:
            raise FormRefused().because("other_site")
        return
    origin = headers.get("Origin")
    if origin is not None and origin != hosts.origin_of(call):
        raise FormRefused().because("other_origin")


def require_form_token(call: Call, form: ProtectedForm) -> None:
    """Raise `FormRefused` unless the form was made for this browser as it is now."""
    if call.browser is not None:
        require_token(form, call.browser.form_token)
    else:
        require_form_token_before_sign_in(call, form)


def require_form_token_before_sign_in(call: Call, form: ProtectedForm) -> None:
    """Raise `FormRefused` unless the form carries the token of the short-lived cookie."""
    value = binding(call)
    require_token(form, browser_sessions.form_token_of(value) if value is not None else Secret(""))


def require_token(form: ProtectedForm, expected: Secret) -> None:
    """Raise `FormRefused` unless a form carries this token."""
    token, sent = expected.reveal().encode(), form.form_token.encode("utf-8", "surrogatepass")
    is_token = hmac.compare_digest(_unmasked(sent), token)
    # A page of an earlier version has the token without a mask.
    if not token or not (is_token or hmac.compare_digest(sent, token)):
        raise FormRefused().because("wrong_form_token")


def masked(token: Secret) -> str:
    """Return a form token as one answer carries it, behind a random mask: how it compresses says nothing of it."""
    text = token.reveal().encode()
    mask = secrets.token_bytes(len(text))
    return base64.urlsafe_b64encode(mask + _xor(mask, text)).decode()


def _unmasked(sent: bytes) -> bytes:
    """Return the token behind its mask; empty for what is no masked token."""
    try:
        both = base64.b64decode(sent, b"-_", validate=True)
    except binascii.Error:
        return b""
    half = len(both) // 2
    return _xor(both[:half], both[half:]) if len(both) == 2 * half else b""


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=True))


async def sign_in_address(call: Call, wanted: BrowserReturn | None, *, page: str = SIGN_IN) -> str:
    """Return the address of a page that signs in and leads on to a path of Gatehouse; any other target is ignored."""
    if wanted is None or browser_returns.safe_target(wanted.target) is None:
        return page
    if "?" not in wanted.target and wanted.organization_slug is None:
        return f"{page}?{urlencode({'return_to': wanted.target})}"
    # A row for a visitor without any credential.
    call.limit(RateLimit.SIGN_IN_GROUP)
    return_id = await call.transact(browser_returns.keep, wanted)
    return f"{page}?{urlencode({'return_id': return_id.reveal()})}"


async def require_open_page(call: Call) -> None:
    """Lead a browser to sign in for a page of the account that its confined session does not open.

    For the pages of an organization their use cases decide.
    """
    browser = call.in_browser
    if browser.is_closed_to_account and browser_returns.organization_of_page(call.request.path) is None:
        raise SignInFirst(await sign_in_address(call, present_target(call)))


async def sign_in_for_page(call: Call, refusal: Refusal) -> None:
    """Lead a browser to sign in for a page of another organization than the one that its session is limited to."""
    is_elsewhere = isinstance(refusal, ConfinedElsewhere) and call.browser is not None
    if is_elsewhere and browser_returns.organization_of_page(call.request.path) is not None:
        raise SignInFirst(await sign_in_address(call, present_target(call)))


async def recent(call: Call, *, page: str | None = None) -> None:
    """Lead a browser to sign in again, and back, unless its user has done so within `RECENT`.

    Back is the page that is named, else the one of this request, on which a submitted form continues. Handlers of
    sensitive changes call it first: address, password, factors, closing the account, secrets.
    """
    await _signed_in_within(call, RECENT, page)


def require_opened(call: Call) -> None:
    """Raise `LoadedAhead` when the browser loads the page before its user opens it, which they may never do."""
    headers = call.request.headers
    if any("prefetch" in headers.get(name, "").lower() for name in _PURPOSES):
        raise LoadedAhead


async def recent_for_form(call: Call, *, if_acting: bool = True) -> None:
    """Do the same on the page of a form, early enough that the sign-in does not expire while the user types.

    With `if_acting=False`, for a page that is read too, it asks nothing of a platform owner who acts as the user: they
    could no longer open the page.
    """
    if if_acting or call.acts_for is None:
        await _signed_in_within(call, RECENT - TIME_TO_TYPE, None)


async def _signed_in_within(call: Call, period: timedelta, page: str | None) -> None:
    if not has_signed_in_within(call, period):
        if call.acts_for is not None:
            # What is asked for to sign in again is the user's.
            raise ImpersonationTooOld
        target = BrowserReturn(target=page) if page is not None else present_target(call)
        if call.request.method == "POST":
            pressed = await pressed_forms.keep(call, target.target if target is not None else HOME)
            target = BrowserReturn(target=pressed) if pressed is not None else target
        raise SignInFirst(await sign_in_address(call, target, page=SIGN_IN_AGAIN))


def has_signed_in_within(call: Call, period: timedelta) -> bool:
    """Return whether the user of the browser has authenticated within that period."""
    return call.in_browser.is_recent(period, at=call.installation.clock())


def present_target(call: Call) -> BrowserReturn | None:
    """Return the page of this request, to come back to; None when its path has no page.

    For the answer of a provider, whose code no page may carry, it is the page on which the sign-in began.
    """
    if call.takes_answer:
        return BrowserReturn(target=call.repeats_at or SIGN_IN)
    if not call.has_page:
        return None
    query = call.request.query_string.decode("ascii", "replace") if call.request.method == "GET" else ""
    path = quote(call.request.path, safe=PATH_CHARACTERS)
    return BrowserReturn(target=f"{path}?{query}" if query else path)


async def keep_way(call: Call, refusal: Refusal, target: BrowserReturn | None = None) -> None:
    """Let a user who is refused by a service sign out, and come back to a path with another account.

    The path is this request's if it has a page.
    """
    target = target or present_target(call)
    is_on_the_way = refusal.organization_id is not None and refusal.code is ErrorCode.FORBIDDEN
    if call.browser is None or target is None or call.switches_at is not None or not is_on_the_way:
        return
    # The refusal is what the page is about, whatever else fails.
    with suppress(Refusal):
        wanted = replace(target, language=call.language)
        call.switches_at = await sign_in_address(call, wanted, page=SIGN_OUT)


def cookie_name(call: Call, name: str) -> str:
    """Return the full name of one of our cookies."""
    # The prefix keeps other hosts of the same domain from setting the cookie.
    return f"__Host-{name}" if call.is_secure else name
