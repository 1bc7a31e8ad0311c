"""The end-session endpoint, and the page that asks before it signs out."""

from datetime import UTC, datetime
from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec
from quart import Response

from core.errors import TokenInvalid
from core.openid import logout
from core.openid.logout import LogoutRequest, SignedOut
from core.openid.requests import RequestRefused
from core.sessions.tokens import TokenKind
from entrypoints.pages.openid.leading_back import leading_page
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, form_page
from entrypoints.web import browsers
from entrypoints.web.answers import Status, see_other
from entrypoints.web.browsers import ProtectedForm
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser_or_not, public
from entrypoints.web.decoding import Query
from entrypoints.web.hosts import issuer_of, on_custom_hosts
from entrypoints.web.routes import Routes

routes = Routes("OpenID Connect", "Signing out at the request of a service.", refusal_page)

LOGOUT: Final = "/auth/logout"
# The pages of services get this long to load before the browser goes on.
FRAMES_SECONDS: Final = 3


class LogoutQuery(Query, kw_only=True):
    """The ID token of the session to end, the client, and where to go then."""

    id_token_hint: Annotated[
        str, msgspec.Meta(description="An ID token of the session to end; without it the user is asked.")
    ] = ""
    client_id: str = ""
    post_logout_redirect_uri: Annotated[
        str, msgspec.Meta(description="Where the browser goes then: an address that the service has registered.")
    ] = ""
    state: Annotated[str, msgspec.Meta(description="A text that comes back with the browser.")] = ""


class PostedLogout(LogoutQuery, kw_only=True):
    """The same parameters in a form of a service."""


class LogoutForm(ProtectedForm, kw_only=True):
    """The answer of a user who was asked: which service has asked, and where to go then."""

    client_id: str = ""
    post_logout_redirect_uri: str = ""
    state: str = ""


@routes.get(LOGOUT, refuses=(RequestRefused,))
@on_custom_hosts
@in_browser_or_not
async def log_out_browser(call: Call, query: LogoutQuery) -> Page | Annotated[None, Status(303)]:
    """Sign out of Gatehouse and of everything that was signed in to from this browser.

    With a valid `id_token_hint` at once, else after the user has pressed a button. The services whose sessions end hear
    of it by their `backchannel_logout_uri` and `frontchannel_logout_uri`.
    """
    wanted = LogoutRequest(
        hint=_hint(call, query.id_token_hint),
        client_id=query.client_id or None,
        redirect_uri=query.post_logout_redirect_uri or None,
        state=query.state or None,
    )
    outcome = await call.transact(logout.begin, wanted, call.browser, issuer=issuer_of(call))
    if isinstance(outcome, SignedOut):
        return _signed_out(call, outcome, is_after_form=False)
    return form_page(
        call,
        "logout.html",
        service_name=outcome.service_name,
        client_id=query.client_id,
        redirect_uri=query.post_logout_redirect_uri,
        state=query.state,
    )


@routes.post(LOGOUT, status=303)
@on_custom_hosts
@public
async def log_out_by_form(call: Call, form: PostedLogout) -> None:
    """Take the same parameters as a form, and redirect to them: a browser sends no cookies with it.

    The ID token is left out of the address, and the user is asked.
    """
    given = {
        "client_id": form.client_id,
        "post_logout_redirect_uri": form.post_logout_redirect_uri,
        "state": form.state,
    }
    call.headers["Location"] = f"{LOGOUT}?{urlencode({name: value for name, value in given.items() if value})}"


@routes.post("/auth/logout/confirm", refuses=(RequestRefused,))
@on_custom_hosts
@in_browser_or_not
async def confirm_logout(call: Call, form: LogoutForm) -> Page | Annotated[None, Status(303)]:
    """Sign out, as the user has said."""
    wanted = LogoutRequest(
        client_id=form.client_id or None,
        redirect_uri=form.post_logout_redirect_uri or None,
        state=form.state or None,
    )
    outcome = await call.transact(logout.confirm, wanted, call.browser, issuer=issuer_of(call))
    return _signed_out(call, outcome, is_after_form=True)


def _signed_out(call: Call, outcome: SignedOut, *, is_after_form: bool) -> Response:
    if call.browser is not None:
        browsers.end_session(call)
    address = outcome.address or LOGOUT
    if outcome.pages:
        return leading_page(call, address, frames=outcome.pages, seconds=FRAMES_SECONDS)
    return leading_page(call, address) if is_after_form and outcome.address else see_other(address)


def _hint(call: Call, token: str) -> logout.Claims | None:
    """Return the claims of an ID token of ours; None for any other text.

    It only says which sign-in is meant, so it is taken also when it has expired: as at the beginning of time.
    """
    try:
        return call.installation.tokens.verify(
            token, kind=TokenKind.ID, now=datetime.fromtimestamp(0, UTC), host=call.host_name
        )
    except TokenInvalid:
        return None
