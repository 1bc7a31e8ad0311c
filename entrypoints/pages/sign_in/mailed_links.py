"""Signing in with a mailed link on the pages: requesting it, and entering the code that its page shows."""

from typing import Final
from uuid import UUID

from quart import Response

from core.accounts.return_targets import ReturnRequest
from core.errors import BadRequest, Refusal, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import magic_links
from core.sign_in.magic_links import MagicLinkRefused
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import AddressForm, ReturnQuery
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.web.serving.browsers import SIGN_IN
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not
from entrypoints.web.serving.hosts import on_custom_hosts

routes = sign_in_pages()

LINK: Final = "/app/sign-in/link"
CODE: Final = "/app/sign-in/code"


class LinkCodeForm(AddressForm, kw_only=True):
    """The code that the page of the mailed link shows."""

    code: str = ""


@routes.get(LINK, status=303)
@on_custom_hosts
@in_browser_or_not
async def show_link(call: Call, query: ReturnQuery) -> None:
    """Redirect to the first step: this page needs an address."""
    call.headers["Location"] = query.on(SIGN_IN)


@routes.post(LINK, limits=(RateLimit.MAGIC_LINK_REQUEST, RateLimit.SIGN_IN_GROUP))
@on_custom_hosts
@in_browser_or_not
async def request_link(call: Call, form: AddressForm) -> Page:
    """Mail a link to sign in with; the page is the same whether or not an account has the address."""
    return await mail_link(call, form.way, form.email)


@routes.get(CODE, status=303)
@on_custom_hosts
@in_browser_or_not
async def show_link_code(call: Call, query: ReturnQuery) -> None:
    """Redirect to the first step: a code belongs to a mail."""
    call.headers["Location"] = query.on(SIGN_IN)


@routes.post(CODE, limits=(RateLimit.LOGIN, RateLimit.SIGN_IN_GROUP), refuses=(MagicLinkRefused, SsoRequired))
@on_custom_hosts
@in_browser_or_not
async def submit_link_code(call: Call, form: LinkCodeForm) -> PageOrRedirect:
    """Sign in with the code that the page of the mailed link shows."""
    try:
        wanted = conclusion.destination(call, form.way)
        outcome = await transact_counted(call, magic_links.verify, _code(form.code), wanted, mailed_to=form.email)
    except (MagicLinkRefused, BadRequest) as refusal:
        return await _mail_page(call, form.way, form.email, refusal)
    return await conclusion.conclude(call, outcome, form.way)


async def mail_link(call: Call, way: ReturnQuery, email: str) -> Response:
    """Mail a link to sign in with, and return the page that takes the code of it."""
    browser = await returns.requesting_browser(call, way)
    await call.transact(magic_links.request, email, ReturnRequest(), browser=browser)
    return await _mail_page(call, way, email)


async def _mail_page(call: Call, way: ReturnQuery, email: str, refusal: Refusal | None = None) -> Response:
    return form_page(
        call,
        "sign_in/mailed_links.html",
        status=refusal.code.status if refusal is not None else 200,
        **await returns.context(call, way),
        email=email,
        problem=refusal.message if refusal is not None else "",
    )


def _code(typed: str) -> str:
    try:
        return str(UUID(typed.strip()))
    except ValueError:
        raise BadRequest(
            "This is not the code. Open the link in the mail, press its button, and copy the whole code."
        ) from None
