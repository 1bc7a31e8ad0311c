"""The page that creates an account. It answers alike for every address (decisions 12.7)."""

from typing import Annotated, Final

from core.accounts import passwords, registration, verification
from core.accounts.requesting_browsers import RequestingBrowser
from core.accounts.return_targets import ReturnRequest
from core.email_addresses import normalize_email
from core.errors import BadRequest
from core.rate_limits import RateLimit
from entrypoints.pages import returns
from entrypoints.pages.declaring import sign_in_pages
from entrypoints.pages.rendering import Page, form_page
from entrypoints.pages.returns import REGISTER, ReturnQuery, WayForm
from entrypoints.web.serving import browsers
from entrypoints.web.serving.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not

routes = sign_in_pages()

SEND_AGAIN: Final = "/app/register/send-again"


class RegistrationForm(WayForm, kw_only=True):
    """The address and the password of the new account."""

    email: str = ""
    password: str = ""


class SendAgainForm(WayForm, kw_only=True):
    """The address that the link is mailed to again."""

    email: str = ""


@routes.get(REGISTER)
@in_browser_or_not
async def show_registration(call: Call, query: ReturnQuery) -> Page:
    """Show the form that creates an account."""
    return await _form(call, query)


@routes.post(REGISTER, limits=(RateLimit.REGISTER, RateLimit.SIGN_IN_GROUP))
@in_browser_or_not
async def submit_registration(call: Call, form: RegistrationForm) -> Page:
    """Create an account, or mail its owner that there is one; the page is the same.

    Programs use `POST /api/auth/register`.
    """
    email_problem = ""
    try:
        email = normalize_email(form.email, call.installation.domain_names.to_ascii)
    except BadRequest as refusal:
        email, email_problem = form.email, refusal.details[0].message
    password_problem = passwords.problem(form.password) or ""
    if email_problem or password_problem:
        return await _form(
            call, form.way, email=form.email, email_problem=email_problem, password_problem=password_problem
        )
    password_hash = await call.installation.passwords.hash(form.password)
    binding = browsers.binding(call)
    browser = (
        RequestingBrowser(binding=binding, return_to=form.return_to, return_id=form.return_id) if binding else None
    )
    await call.transact(registration.register_evenly, email, password_hash, ReturnRequest(), browser)
    return await _sent(call, form.way, email)


@routes.get(SEND_AGAIN, status=303)
@in_browser_or_not
async def show_send_again(call: Call) -> Annotated[None, AnswerStatus(303)]:
    """Redirect to the form: this page needs an address."""
    call.headers["Location"] = REGISTER


@routes.post(SEND_AGAIN, limits=(RateLimit.RESEND_VERIFICATION, RateLimit.SIGN_IN_GROUP))
@in_browser_or_not
async def send_again(call: Call, form: SendAgainForm) -> Page:
    """Mail the link that verifies an address again; the page is the same whether or not an account waits for it."""
    await call.transact(verification.resend, form.email, ReturnRequest())
    return await _sent(call, form.way, form.email)


async def _form(
    call: Call, way: ReturnQuery, *, email: str = "", email_problem: str = "", password_problem: str = ""
) -> Page:
    return form_page(
        call,
        "register.html",
        status=400 if email_problem or password_problem else 200,
        **await returns.context(call, way),
        email=email,
        email_problem=email_problem,
        password_problem=password_problem,
    )


async def _sent(call: Call, way: ReturnQuery, email: str) -> Page:
    return form_page(call, "registered.html", **await returns.context(call, way), email=email)
