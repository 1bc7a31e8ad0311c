"""The page of a magic link: a button, and then the code to paste where the user wanted to sign in."""

from core.sign_in import magic_links
from core.sign_in.magic_links import MagicLinkRefused
from entrypoints.pages.brands import brand_of
from entrypoints.pages.forms import MailedLink, MailedLinkForm
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("magic links", "Signing in with a mailed link, without a password.", refusal_page)


@routes.get("/auth/magic-link", refuses=(MagicLinkRefused,))
@public
async def show_link(call: Call, query: MailedLink) -> Page:
    """Show the button of the magic link; opening the page does not use up the link."""
    link = await call.read(magic_links.inspect, query.token)
    brand = await brand_of(call, link.back.organization_id)
    return page(call, "magic_link.html", token=query.token, email=link.email, place=link.back.name, brand=brand)


@routes.post("/auth/magic-link", refuses=(MagicLinkRefused,))
@public
async def press_link(call: Call, form: MailedLinkForm) -> Page:
    """Exchange the link for a sign-in code and show it; programs use `POST /api/auth/magic-link/verify`."""
    exchanged = await call.transact(magic_links.exchange, form.token)
    brand = await brand_of(call, exchanged.back.organization_id)
    return page(call, "magic_link_code.html", code=exchanged.code.reveal(), back=exchanged.back, brand=brand)
