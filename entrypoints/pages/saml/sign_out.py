"""The page that signs a browser out: a button, because a link could be pressed by another site.

It is in this area because the service providers of SAML, to which the browser was signed in, are told first.
"""

from typing import Final
from urllib.parse import urlencode

from core.saml import logouts
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, form_page
from entrypoints.pages.saml import carriers
from entrypoints.web import browsers
from entrypoints.web.browsers import SIGN_IN
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser_or_not
from entrypoints.web.hosts import on_custom_hosts
from entrypoints.web.routes import Routes

routes = Routes("sign-in pages", "Signing in in a browser.", refusal_page)

SIGN_OUT: Final = "/app/sign-out"


@routes.get(SIGN_OUT)
@on_custom_hosts
@in_browser_or_not
async def show_sign_out(call: Call) -> Page:
    """Show the button that signs out, or that the browser is signed out."""
    return form_page(call, "sign_out.html", sign_in=SIGN_IN)


@routes.post(SIGN_OUT, status=303)
@on_custom_hosts
@in_browser_or_not
async def sign_out(call: Call) -> None:
    """End the session of this browser and what was signed in to from it, and tell the applications."""
    call.headers["Location"] = SIGN_OUT
    if call.browser is not None:
        taken = await call.transact(logouts.sign_out, call.browser, carriers.browser_key(call))
        browsers.end_session(call)
        if taken is not None:
            carriers.keep_browser_key(call, taken.browser_key)
            call.headers["Location"] = f"/saml/logout?{urlencode({'saml_state': taken.state.reveal()})}"
