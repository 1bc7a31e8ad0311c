"""The pages of a forgotten password: requesting the link, and the form that it leads to."""

from typing import Final

from core.accounts import password_reset
from core.accounts.links import LinkUnusable
from core.accounts.password_reset import Reset
from core.accounts.passwords import PasswordBreached, PasswordTooCommon
from core.accounts.return_targets import ReturnRequest
from core.email_addresses import normalize_email
from core.errors import BadRequest, SsoRequired
from core.rate_limits import RateLimit
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.forms import LinkForm, MailedLink
from entrypoints.pages.frame.interrupted_sign_ins import where_it_goes_on
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import Page, form_page, page
from entrypoints.pages.frame.returns import AddressForm, ReturnQuery, read_in
from entrypoints.shared.accounts.passwords import hashed
from entrypoints.web.serving.admission.browsers import SIGN_IN, upstream_binding
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.", refusal_page)

FORGOT_PASSWORD: Final = "/app/forgot-password"  # noqa: S105 - a path, not a secret


class PasswordResetForm(LinkForm, kw_only=True):
    """The fields of the form."""

    new_password: str = ""
    repeated: str = ""


@routes.get(FORGOT_PASSWORD)
@in_browser_or_not
async def show_forgot_password(
    call: Call, query: ReturnQuery, *, email: str | None = None, refusal: BadRequest | None = None
) -> Page:
    """Show the form that requests a link to choose a password."""
    context = await returns.context(call, query)
    if email is None and call.browser is not None:
        email = call.browser.email
    return form_page(
        call,
        "accounts/password_reset_request.html",
        status=200 if refusal is None else 400,
        **context,
        email=email or context["proposed_email"],
        problem=refusal.details[0].message if refusal is not None else "",
    )


@routes.post(FORGOT_PASSWORD, limits=(RateLimit.FORGOT_PASSWORD, RateLimit.SIGN_IN_GROUP))
@in_browser_or_not
async def submit_forgot_password(call: Call, form: AddressForm) -> Page:
    """Mail a link to choose a password; the page is the same whether or not an account has the address.

    Programs use `POST /api/auth/forgot-password`.
    """
    try:
        normalize_email(form.email, call.installation.domain_names.to_ascii)
    except BadRequest as refusal:
        return await show_forgot_password(call, form.way, email=form.email, refusal=refusal)
    browser = await returns.requesting_browser(call, form.way)
    await call.transact(password_reset.request, form.email, ReturnRequest(), browser)
    returns.remember_address(call, form.email)
    return form_page(
        call, "accounts/password_reset_sent.html", **await returns.context(call, form.way), email=form.email
    )


@routes.get("/auth/reset-password", refuses=(LinkUnusable,))
@public
async def show_reset_form(call: Call, query: MailedLink) -> Page:
    """Show the form of the mailed link; opening it does not use up the link."""
    reset = await call.read(password_reset.inspect, query.token)
    read_in(call, reset.back)
    return await _form(call, query.token, reset)


@routes.post("/auth/reset-password", refuses=(LinkUnusable, SsoRequired, PasswordTooCommon, PasswordBreached))
@public
async def submit_reset_form(call: Call, form: PasswordResetForm) -> Page:
    """Set the new password from the form of the page; programs use `POST /api/auth/reset-password`."""
    reset = await call.read(password_reset.inspect, form.token)
    read_in(call, reset.back)
    repeated_problem = "" if form.new_password == form.repeated else marked("The passwords do not match.")
    installation = call.installation
    try:
        new = await call.read(password_reset.check, form.token, form.new_password, installation.password_rules)
        password_hash = "" if repeated_problem else await hashed(installation, new)
    except LinkUnusable:
        raise
    except BadRequest as refusal:
        return await _form(
            call,
            form.token,
            reset,
            password_problem=refusal.details[0].message,
            repeated_problem=repeated_problem,
        )
    if repeated_problem:
        return await _form(call, form.token, reset, repeated_problem=repeated_problem)
    way = returns.way_of(call, reset.browser)
    call.repeats_at = (way or ReturnQuery()).on(SIGN_IN)
    binding = upstream_binding(call)
    done = await call.transact(password_reset.reset, form.token, password_hash, binding=binding)
    text = translated(call, "Every session of your account has ended. Sign in again with the new password.")
    if way is None and done.browser is not None and done.place.name:
        text = f"{text} {where_it_goes_on(call, done.place)}"
    return page(
        call,
        "frame/message.html",
        heading=translated(call, "Your new password is saved"),
        text=text,
        back=done.back,
        next=(marked("Sign in"), (way or ReturnQuery()).on(SIGN_IN)),
        request_id=None,
        brand=await brand_of(call, done.place.organization_id),
    )


async def _form(
    call: Call, token: str, reset: Reset, *, password_problem: str = "", repeated_problem: str = ""
) -> Page:
    return page(
        call,
        "accounts/password_reset.html",
        status=400 if password_problem or repeated_problem else 200,
        token=token,
        email=reset.email,
        place=reset.place.name,
        password_problem=password_problem,
        repeated_problem=repeated_problem,
        brand=await brand_of(call, reset.place.organization_id),
        here=returns.link_page("/auth/reset-password", token=token),
    )
