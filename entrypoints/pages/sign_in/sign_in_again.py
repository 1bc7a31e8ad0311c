"""The page that asks a signed-in user to authenticate again, before a sensitive change.

One factor is enough: the session began with all the factors that it needed.
"""

from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from core.credentials import mfa
from core.errors import BadRequest, Refusal, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import browser_returns, second_factor
from core.sign_in.mfa_challenges import SecondFactorPending, SignInCompleted
from core.sign_in.reasons import CountedRefusal, SignInRefused
from core.sign_in.second_factor import CodeWrong, PreAuthOver
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.login import LIMITS
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.shared.sign_in.login import authenticate
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import browsers, hosts, pressed_forms
from entrypoints.web.serving.admission.browsers import HOME, SIGN_IN, SIGN_IN_AGAIN
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()


class AgainForm(WayForm, kw_only=True):
    """The password, or a code where the account has a second factor; `back` is the page that the browser came from."""

    password: str = ""
    code: str = ""
    back: str = ""


class PressedFormQuery(Query, kw_only=True):
    """The page of a form that is sent again."""

    page: Annotated[str, msgspec.Meta(description="A path of Gatehouse, to open where the form is gone.")] = ""


@routes.get(SIGN_IN_AGAIN)
@on_custom_hosts
@in_browser_in_person
async def show_sign_in_again(
    call: Call, query: ReturnQuery, *, refusal: Refusal | None = None, back: str | None = None
) -> Page:
    """Ask for the password, or for a code."""
    kept = await returns.kept_return(call, query)
    target = kept.target if kept is not None else browser_returns.safe_path(query.return_to) or ""
    return form_page(
        call,
        "sign_in/sign_in_again.html",
        status=refusal.code.status if refusal is not None else 200,
        connects=True,
        **returns.shown(call, query, kept),
        back=browser_returns.safe_target(back if back is not None else _came_from(call, target)) or HOME,
        pressed_on=pressed_forms.page_of(target),
        has_code=(await call.read(mfa.status)).enabled,
        problem=problem_of(refusal),
    )


@routes.post(
    SIGN_IN_AGAIN,
    limits=(*LIMITS, RateLimit.MFA_VERIFICATION),
    refuses=(SignInRefused, SsoRequired, CodeWrong, PreAuthOver),
)
@on_custom_hosts
@in_browser_in_person
async def submit_sign_in_again(call: Call, form: AgainForm) -> PageOrRedirect:
    """Continue the session of this browser after the password or a code."""
    try:
        outcome = await (_by_code(call, form) if form.code else _by_password(call, form))
    except (CountedRefusal, PreAuthOver, BadRequest) as refusal:
        return await show_sign_in_again(call, form.way, refusal=refusal, back=form.back)
    return await conclusion.conclude(call, outcome, form.way)


@routes.get(f"{pressed_forms.PAGE}/:form_id")
@on_custom_hosts
@in_browser_in_person
async def send_pressed_form(call: Call, form_id: UUID, query: PressedFormQuery) -> PageOrRedirect:
    """Send a form that was kept until its user had signed in again, in the browser that has sent it, and once."""
    browsers.require_opened(call)
    pressed = await pressed_forms.take(call, form_id) if call.request.method != "HEAD" else None
    back = browser_returns.safe_target(query.page) or HOME
    if pressed is None:
        return see_other(back)
    return form_page(call, "sign_in/sign_in_again_form.html", pressed=pressed, back=back)


def _came_from(call: Call, target: str) -> str:
    """Return the page that the browser came from, to go back to; else the first of what the target is a part of."""
    try:
        referrer = urlsplit(call.request.headers.get("Referer", ""))
    except ValueError:
        referrer = urlsplit("")
    path, own = target.partition("?")[0], hosts.origin_of(call)
    is_ours = f"{referrer.scheme}://{referrer.netloc}" == own and not referrer.path.startswith(SIGN_IN)
    # A page that asked for this sign-in would ask again; one with a button did not.
    if is_ours and (referrer.path != path or pressed_forms.page_of(target)):
        return f"{referrer.path}?{referrer.query}" if referrer.query else referrer.path
    slug = browser_returns.organization_of_page(path)
    return f"/app/organizations/{slug}" if slug is not None else HOME


async def _by_password(call: Call, form: AgainForm) -> SignInCompleted | SecondFactorPending:
    wanted = conclusion.destination(call, form.way, is_again=True)
    return await authenticate(call, call.in_browser.email, form.password, wanted)


async def _by_code(call: Call, form: AgainForm) -> SignInCompleted:
    verified = await transact_counted(
        call,
        second_factor.verify_again,
        call.in_browser,
        form.code,
        network=call.throttled_network,
        client=conclusion.destination(call, form.way, is_again=True),
    )
    return verified.completed
