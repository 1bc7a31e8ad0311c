"""The page that asks a user who is signed in to prove that they are there (decisions 12.5).

One factor is enough: the session has proved what it needed when it began.
"""

from core.credentials import mfa
from core.errors import BadRequest, Refusal, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import second_factor
from core.sign_in.outcomes import SecondFactorPending, SignInCompleted
from core.sign_in.refusals import CountedRefusal, SignInRefused
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
from entrypoints.web.serving.browsers import SIGN_IN_AGAIN
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_in_person
from entrypoints.web.serving.hosts import on_custom_hosts

routes = sign_in_pages()


class AgainForm(WayForm, kw_only=True):
    """The password, or a code where the account has a second factor."""

    password: str = ""
    code: str = ""


@routes.get(SIGN_IN_AGAIN)
@on_custom_hosts
@in_browser_in_person
async def show_sign_in_again(call: Call, query: ReturnQuery, *, refusal: Refusal | None = None) -> Page:
    """Ask for the password, or for a code."""
    return form_page(
        call,
        "sign_in/sign_in_again.html",
        status=refusal.code.status if refusal is not None else 200,
        connects=True,
        **await returns.context(call, query),
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
        return await show_sign_in_again(call, form.way, refusal=refusal)
    return await conclusion.conclude(call, outcome, form.way)


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
