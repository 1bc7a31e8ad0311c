"""The end-session endpoint with the page that asks before it signs out, and the page that signs a browser out here.

The latter is in this area because it signs out of the services of the session too: the browser loads the logout pages
of services that have one, and then visits the SAML service providers one after the other. It has a button, because
another site could open a link.
"""

from typing import Annotated, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from quart import Response

from core.openid import logout
from core.openid.client_troubles import LogoutUriRefused, RequestOver, RequestRefused
from core.openid.logout import LogoutRequest, SignedOut
from core.services.problems import printable
from core.services.redirect_uris import URI_CHARACTERS_MAX
from core.sign_in import browser_returns
from core.sign_in.browser_returns import LIFETIME, BrowserReturn
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.redirects import leading_page
from entrypoints.pages.frame.refusals import prefers_json, protocol_refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery
from entrypoints.pages.frame.routes import shows_again, sign_in_pages
from entrypoints.pages.saml import messages
from entrypoints.pages.saml.logouts import RETURN_COOKIE, SIGNED_OUT
from entrypoints.shared.openid.id_tokens import hinted_claims
from entrypoints.shared.sign_in.upstream.own_addresses import SIGNED_OUT_THERE
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.languages import asked_for
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import SIGN_IN, ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
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


async def _unregistered_page(call: Call, *, refusal: LogoutUriRefused) -> Response:
    """Return the page that names the address and signs out without going there; raise the refusal for programs."""
    if prefers_json(call):
        raise refusal
    service = refusal.client.service
    return form_page(
        call,
        "openid/logout.html",
        status=refusal.code.status,
        service_name=service.name,
        address="",
        refused=printable(refusal.redirect_uri[:URI_CHARACTERS_MAX]),
        client_id=service.client_id,
        redirect_uri="",
        state="",
        ui_locales=call.language or "",
    )


@routes.get(LOGOUT, refuses=(RequestRefused, RequestOver))
@on_custom_hosts
@in_browser_or_not
@shows_again(_unregistered_page, LogoutUriRefused)
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
        logout.begin, wanted, call.browser, issuer=issuer_of(call), saml_key=messages.browser_key(call)
    )
    if isinstance(outcome, SignedOut):
        return await signed_out(call, outcome, shown=_shown(wanted, call.language), is_after_form=False)
    return form_page(
        call,
        "openid/logout.html",
        service_name=outcome.service_name,
        address=outcome.address or "",
        refused="",
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
        logout.confirm, wanted, call.browser, issuer=issuer_of(call), saml_key=messages.browser_key(call)
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
    """Return the page that says that the browser is signed out, and returns to the service."""
    fields = {
        "client_id": wanted.client_id or (wanted.hint["aud"] if wanted.hint is not None else None),
        "post_logout_redirect_uri": wanted.redirect_uri,
        "state": wanted.state,
    }
    leading_on = fields if wanted.redirect_uri is not None else {}
    named = {name: value for name, value in {**leading_on, "ui_locales": language}.items() if value is not None}
    return f"{LOGOUT}?{urlencode(named)}" if named else LOGOUT


sign_out_routes = sign_in_pages()

# The pages of services get this long to load before the browser goes on.
FRAMES_SECONDS: Final = 3


class SignOutForm(ProtectedForm, kw_only=True):
    """The button, and where the sign-in after it leads: the form of no sign-in, which would go on with it."""

    return_to: str = ""
    return_id: str = ""


@sign_out_routes.get(SIGNED_OUT)
@on_custom_hosts
@in_browser_or_not
async def show_sign_out(call: Call, query: ReturnQuery) -> PageOrRedirect:
    """Show the button that signs out, or that the browser is signed out; redirect to the service if it wants that.

    The next sign-in may have a path as its target, for a user who goes there with another account.
    """
    name = browsers.cookie_name(call, RETURN_COOKIE)
    return_id = cookie_of(call.request, name)
    if call.browser is None and return_id is not None:
        call.forget_cookie(name)
        kept = await call.transact(browser_returns.use, return_id)
        if kept is not None:
            return see_other(kept.target)
    context = await returns.context(call, query)
    return form_page(call, "openid/logout_here.html", **context, sign_in=query.on(SIGN_IN))


@sign_out_routes.post(SIGNED_OUT)
@on_custom_hosts
@in_browser_or_not
async def sign_out(call: Call, form: SignOutForm) -> PageOrRedirect:
    """End the session of this browser and what was signed in to from it, and tell the applications."""
    shown = ReturnQuery(return_to=form.return_to, return_id=form.return_id).on(SIGNED_OUT)
    if call.browser is None:
        return see_other(shown)
    outcome = await call.transact(
        logout.sign_out, call.browser, issuer=issuer_of(call), saml_key=messages.browser_key(call)
    )
    return await signed_out(call, outcome, shown=shown, is_after_form=True)


class SignedOutQuery(Query, kw_only=True):
    """What an OpenID provider gives back after its user has signed out there."""

    state: Annotated[str, msgspec.Meta(description="The id of the page that follows, valid once.")] = ""


@sign_out_routes.get(SIGNED_OUT_THERE, status=303)
@in_browser_or_not
async def return_signed_out(call: Call, query: SignedOutQuery) -> None:
    """Lead a browser on that has signed out at the OpenID provider of a connection, to where its sign-out was to lead.

    This address is registered with the provider as `post_logout_redirect_uri`.
    """
    kept = await call.transact(browser_returns.use, query.state) if query.state else None
    call.headers["Location"] = kept.target if kept is not None else SIGNED_OUT


async def signed_out(call: Call, outcome: SignedOut, *, shown: str, is_after_form: bool) -> Response:
    """Redirect a browser whose session has ended; `shown` is our own page, where the service names no address."""
    if call.browser is not None:
        browsers.end_session(call)
    address, leaves = outcome.address or shown, outcome.address is not None
    if outcome.saml is not None:
        if address != SIGNED_OUT or call.custom_host is not None:
            # Under the base URL, where the browser may come back, a path would be one of that host.
            target = address if outcome.address is not None else f"{issuer_of(call)}{address}"
            kept = await call.transact(browser_returns.keep, BrowserReturn(target=target))
            call.set_cookie(browsers.cookie_name(call, RETURN_COOKIE), kept.reveal(), lifetime=LIFETIME)
        messages.keep_browser_key(call, outcome.saml.browser_key)
        address, leaves = f"/saml/logout?{urlencode({'saml_state': outcome.saml.state.reveal()})}", False
    if outcome.pages:
        return leading_page(call, address, frames=outcome.pages, seconds=FRAMES_SECONDS)
    return leading_page(call, address) if is_after_form and leaves else see_other(address)
