"""The end-session endpoint, and the page that asks before it signs out."""

from typing import Annotated, Final
from urllib.parse import parse_qsl, urlencode

import msgspec

from core.openid import logout
from core.openid.logout import LogoutRequest, SignedOut
from core.openid.refused_requests import RequestOver, RequestRefused
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from entrypoints.pages.openid.sign_out import signed_out
from entrypoints.pages.refusals import protocol_refusal_page
from entrypoints.pages.rendering import PageOrRedirect, form_page
from entrypoints.pages.saml import carriers
from entrypoints.shared.openid.id_token_hints import hinted_claims
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not, public
from entrypoints.web.serving.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.languages import asked_for
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "Signing out at the request of a service.", protocol_refusal_page)

LOGOUT: Final = "/auth/logout"
# What a posted request waits as, under a one-time id; no route has this path, so nothing else waits as it.
POSTED: Final = "/auth/logout/posted"
# The claims of an ID token that say which sign-in is meant.
HINTED: Final = ("sid", "sub", "aud")


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
    ui_locales: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The values that are given, without the ID token."""
        named = {
            "client_id": self.client_id,
            "post_logout_redirect_uri": self.post_logout_redirect_uri,
            "state": self.state,
            "ui_locales": self.ui_locales,
        }
        return {name: value for name, value in named.items() if value}


class LogoutRequestQuery(LogoutQuery, kw_only=True):
    """The same, or the id of a posted request."""

    request_id: Annotated[str, msgspec.Meta(description="The id of a posted request, valid once.")] = ""


class PostedLogout(LogoutQuery, kw_only=True):
    """The same parameters in a form of a service."""


class LogoutForm(ProtectedForm, kw_only=True):
    """The answer of a user who was asked: which service has asked, and where to go then."""

    client_id: str = ""
    post_logout_redirect_uri: str = ""
    state: str = ""
    ui_locales: str = ""


@routes.get(LOGOUT, refuses=(RequestRefused, RequestOver))
@on_custom_hosts
@in_browser_or_not
async def log_out_browser(call: Call, query: LogoutRequestQuery) -> PageOrRedirect:
    """Sign out of Gatehouse and of everything that was signed in to from this browser.

    With a valid `id_token_hint` at once, else after the user has pressed a button. The services whose sessions end hear
    of it by their `backchannel_logout_uri` and `frontchannel_logout_uri`.
    """
    call.language = asked_for(query.ui_locales)
    wanted = (
        await _posted(call, query.request_id)
        if query.request_id
        else _wanted(query, hinted_claims(call, query.id_token_hint))
    )
    outcome = await call.transact(
        logout.begin, wanted, call.browser, issuer=issuer_of(call), saml_key=carriers.browser_key(call)
    )
    if isinstance(outcome, SignedOut):
        return await signed_out(call, outcome, shown=_shown(wanted, call.language), is_after_form=False)
    return form_page(
        call,
        "logout.html",
        service_name=outcome.service_name,
        address=outcome.address or "",
        client_id=wanted.client_id or "",
        redirect_uri=wanted.redirect_uri or "",
        state=wanted.state or "",
        ui_locales=call.language or "",
    )


@routes.post(LOGOUT, status=303)
@on_custom_hosts
@public
async def log_out_by_form(call: Call, form: PostedLogout) -> None:
    """Take the same parameters as a form, and redirect: a browser sends no cookies with a form of another site.

    The ID token is left out of the address. What a valid one says waits under an id that is good once.
    """
    hint = hinted_claims(call, form.id_token_hint)
    if hint is None:
        call.headers["Location"] = f"{LOGOUT}?{urlencode(form.fields)}"
        return
    waiting = {**form.fields, **{name: str(hint[name]) for name in HINTED}}
    kept = await call.transact(browser_returns.keep, BrowserReturn(target=f"{POSTED}?{urlencode(waiting)}"))
    call.headers["Location"] = f"{LOGOUT}?{urlencode({'request_id': kept.reveal()})}"


@routes.post("/auth/logout/confirm", refuses=(RequestRefused,))
@on_custom_hosts
@in_browser_or_not
async def confirm_logout(call: Call, form: LogoutForm) -> PageOrRedirect:
    """Sign out, as the user has said."""
    call.language = asked_for(form.ui_locales)
    wanted = LogoutRequest(
        client_id=form.client_id or None,
        redirect_uri=form.post_logout_redirect_uri or None,
        state=form.state or None,
    )
    outcome = await call.transact(
        logout.confirm, wanted, call.browser, issuer=issuer_of(call), saml_key=carriers.browser_key(call)
    )
    return await signed_out(call, outcome, shown=_shown(wanted, call.language), is_after_form=True)


def _wanted(given: LogoutQuery, hint: logout.Claims | None) -> LogoutRequest:
    return LogoutRequest(
        hint=hint,
        client_id=given.client_id or None,
        redirect_uri=given.post_logout_redirect_uri or None,
        state=given.state or None,
    )


async def _posted(call: Call, request_id: str) -> LogoutRequest:
    """Use up a posted request; raise `RequestOver`."""
    kept = await call.transact(browser_returns.use, request_id)
    path, _, query = kept.target.partition("?") if kept is not None else ("", "", "")
    if path != POSTED:
        raise RequestOver
    given = dict(parse_qsl(query))
    call.language = asked_for(given.get("ui_locales"))
    hint = {name: given.pop(name) for name in HINTED}
    return _wanted(LogoutQuery(**given), hint)


def _shown(wanted: LogoutRequest, language: str | None) -> str:
    """Return the page that says that the browser is signed out, and leads on to the service."""
    fields = {
        "client_id": wanted.client_id or (wanted.hint["aud"] if wanted.hint is not None else None),
        "post_logout_redirect_uri": wanted.redirect_uri,
        "state": wanted.state,
    }
    leading_on = fields if wanted.redirect_uri is not None else {}
    named = {name: value for name, value in {**leading_on, "ui_locales": language}.items() if value is not None}
    return f"{LOGOUT}?{urlencode(named)}" if named else LOGOUT
