"""The page that signs a browser out: a button, because a link could be pressed by another site.

It is in this area because the services of the session are told: those that have a page for that load it in the browser,
and after them the service providers of SAML are told, one after the other.
"""

from typing import Final
from urllib.parse import urlencode

from quart import Response

from core.openid import logout
from core.openid.logout import SignedOut
from core.sign_in import browser_returns
from core.sign_in.browser_returns import LIFETIME, BrowserReturn
from entrypoints.pages import returns
from entrypoints.pages.declaring import sign_in_pages
from entrypoints.pages.leading_on import leading_page
from entrypoints.pages.rendering import PageOrRedirect, form_page
from entrypoints.pages.returns import ReturnQuery
from entrypoints.pages.saml import carriers
from entrypoints.pages.saml.slo import SIGNED_OUT
from entrypoints.web.serving import browsers
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import SIGN_IN, ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not
from entrypoints.web.serving.hosts import issuer_of, on_custom_hosts

routes = sign_in_pages()

# The pages of services get this long to load before the browser goes on.
FRAMES_SECONDS: Final = 3
# The id of the page that follows when the service providers of SAML have been told.
RETURN_COOKIE: Final = "gatehouse_signed_out"


class SignOutForm(ProtectedForm, kw_only=True):
    """The button, and where the sign-in after it leads: the form of no sign-in, which would go on with it."""

    return_to: str = ""
    return_id: str = ""


@routes.get(SIGNED_OUT)
@on_custom_hosts
@in_browser_or_not
async def show_sign_out(call: Call, query: ReturnQuery) -> PageOrRedirect:
    """Show the button that signs out, or that the browser is signed out; go on to where a service wants it to go.

    The sign-in after it may lead on to a path, for a user who goes there with another account.
    """
    name = browsers.cookie_name(call, RETURN_COOKIE)
    return_id = call.request.cookies.get(name)
    if call.browser is None and return_id is not None:
        call.forget_cookie(name)
        kept = await call.transact(browser_returns.use, return_id)
        if kept is not None:
            return see_other(kept.target)
    context = await returns.context(call, query)
    return form_page(call, "sign_out.html", **context, sign_in=query.on(SIGN_IN))


@routes.post(SIGNED_OUT)
@on_custom_hosts
@in_browser_or_not
async def sign_out(call: Call, form: SignOutForm) -> PageOrRedirect:
    """End the session of this browser and what was signed in to from it, and tell the applications."""
    shown = ReturnQuery(return_to=form.return_to, return_id=form.return_id).on(SIGNED_OUT)
    if call.browser is None:
        return see_other(shown)
    outcome = await call.transact(
        logout.sign_out, call.browser, issuer=issuer_of(call), saml_key=carriers.browser_key(call)
    )
    return await signed_out(call, outcome, shown=shown, is_after_form=True)


async def signed_out(call: Call, outcome: SignedOut, *, shown: str, is_after_form: bool) -> Response:
    """Lead a browser on whose session has ended; `shown` is the page that says so, for a service without a wish."""
    if call.browser is not None:
        browsers.end_session(call)
    address, leaves = outcome.address or shown, outcome.address is not None
    if outcome.saml is not None:
        if shown != SIGNED_OUT:
            kept = await call.transact(browser_returns.keep, BrowserReturn(target=shown))
            call.set_cookie(browsers.cookie_name(call, RETURN_COOKIE), kept.reveal(), lifetime=LIFETIME)
        carriers.keep_browser_key(call, outcome.saml.browser_key)
        address, leaves = f"/saml/logout?{urlencode({'saml_state': outcome.saml.state.reveal()})}", False
    if outcome.pages:
        return leading_page(call, address, frames=outcome.pages, seconds=FRAMES_SECONDS)
    return leading_page(call, address) if is_after_form and leaves else see_other(address)
