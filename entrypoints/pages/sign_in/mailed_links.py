"""Signing in with a mailed link or code on the pages: requesting it, and entering the code of the mail or the page."""

from typing import Final
from uuid import UUID

from quart import Response

from core.accounts import links
from core.accounts.return_targets import ReturnRequest
from core.errors import BadRequest, Refusal, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import magic_links
from core.sign_in.magic_links import MagicLinkRefused
from core.sign_in.mfa_challenges import SecondFactorPending, SignInCompleted
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import AddressForm, ReturnQuery
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.web.serving.admission.browsers import SIGN_IN, link_binding
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

LINK: Final = "/app/sign-in/link"
CODE: Final = "/app/sign-in/code"


class LinkCodeForm(AddressForm, kw_only=True):
    """The code of the mail with the challenge that it answers, or the code that the page of its link shows."""

    code: str = ""
    challenge_id: str = ""


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
    """Mail a link and a code to sign in with; the page is the same whether or not an account has the address."""
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
    """Sign in with the code of the mail, in the browser that asked for it, or with the code of the page of its link."""
    try:
        outcome = await _verify(call, form)
    except (MagicLinkRefused, BadRequest) as refusal:
        return await _mail_page(call, form.way, form.email, form.challenge_id, refusal)
    return await conclusion.conclude(call, outcome, form.way)


async def mail_link(call: Call, way: ReturnQuery, email: str) -> Response:
    """Mail a link and a code to sign in with, and return the page that takes the code."""
    browser = await returns.requesting_browser(call, way)
    challenge_id = await call.transact(magic_links.request, email, ReturnRequest(), browser=browser)
    return await _mail_page(call, way, email, str(challenge_id))


async def _verify(call: Call, form: LinkCodeForm) -> SignInCompleted | SecondFactorPending:
    wanted = conclusion.destination(call, form.way)
    code = links.typed_code(form.code)
    if code is None:
        return await transact_counted(call, magic_links.verify, _page_code(form.code), wanted, mailed_to=form.email)
    # A browser that has asked for no mail is bound to none.
    binding = link_binding(call) or ""
    return await transact_counted(
        call, magic_links.verify_code, _challenge_id(form.challenge_id), code, wanted, binding=binding
    )


async def _mail_page(
    call: Call, way: ReturnQuery, email: str, challenge_id: str, refusal: Refusal | None = None
) -> Response:
    kept = await returns.kept_return(call, way)
    return form_page(
        call,
        "sign_in/mailed_links.html",
        status=refusal.code.status if refusal is not None else 200,
        **returns.shown(call, way, kept),
        is_of_connection=returns.has_come_from_connection(kept),
        email=email,
        challenge_id=challenge_id,
        problem=refusal.message if refusal is not None else "",
    )


def _page_code(typed: str) -> str:
    try:
        return str(UUID(typed.strip()))
    except ValueError:
        raise BadRequest(
            "This is not the code. Type the six digits of the mail, or open its link and copy the whole code there."
        ) from None


def _challenge_id(sent: str) -> UUID:
    """Return the challenge of a form; one that was altered, or is of an earlier version, takes no code."""
    try:
        return UUID(sent)
    except ValueError:
        raise MagicLinkRefused(magic_links.CODE_OVER) from None
