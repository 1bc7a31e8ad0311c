"""The page of a magic link: a button that signs in, or shows the code to paste where the user wanted to sign in."""

from core.errors import SsoRequired
from core.sign_in import magic_links
from core.sign_in.magic_links import MagicLinkRefused
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.forms import LinkForm, MailedLink
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, page
from entrypoints.pages.frame.returns import read_in
from entrypoints.pages.sign_in import conclusion
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("magic links", "Signing in with a mailed link, without a password.", refusal_page)


@routes.get("/auth/magic-link", refuses=(MagicLinkRefused,))
@public
async def show_link(call: Call, query: MailedLink) -> Page:
    """Show the button of the magic link; opening the page does not use up the link."""
    link = await call.read(magic_links.inspect, query.token)
    read_in(call, link.back)
    return page(
        call,
        "sign_in/magic_links.html",
        token=query.token,
        email=link.email,
        place=link.place.name,
        brand=await brand_of(call, link.place.organization_id),
        signs_in=returns.way_of(call, link.browser) is not None,
    )


@routes.post("/auth/magic-link", refuses=(MagicLinkRefused, SsoRequired))
@public
async def press_link(call: Call, form: LinkForm) -> PageOrRedirect:
    """Sign in, in the browser where the link was requested on a page; else exchange the link for a code and show it.

    Programs use `POST /api/auth/magic-link/verify`.
    """
    # A transaction, so that a refusal is noted; opening the page is no attempt to sign in.
    link = await call.transact(magic_links.inspect, form.token)
    read_in(call, link.back)
    way = returns.way_of(call, link.browser)
    if way is None:
        exchanged = await call.transact(magic_links.exchange, form.token)
        brand = await brand_of(call, exchanged.place.organization_id)
        # A program names where its link leads back to; a browser waits with the page for the code.
        return page(
            call, "sign_in/magic_links_code.html", code=exchanged.code.reveal(), back=exchanged.place, brand=brand
        )
    call.repeats_at = way.on(browsers.SIGN_IN)
    # Another site cannot send this form: it does not know the token of a link that this browser has requested.
    await browsers.find_session(call)
    outcome = await transact_counted(call, magic_links.verify, form.token, conclusion.destination(call, way))
    return await conclusion.conclude(call, outcome, way)
