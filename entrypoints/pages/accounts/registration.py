"""The page that creates an account. It answers alike for every address, so that it tells nothing about accounts."""

from typing import Annotated, Final

import msgspec

from core.accounts import email_verification, names, open_registrations, passwords, registration
from core.accounts.links import LinkUnusable
from core.accounts.passwords import PasswordBreached, PasswordTooCommon
from core.accounts.return_targets import ReturnRequest
from core.email_addresses import normalize_email
from core.errors import BadRequest, all_valid
from core.rate_limits import RateLimit
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.lookup_email import EmailLookupResult
from entrypoints.pages.accounts.password_reset import FORGOT_PASSWORD
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.forms import MailedLink
from entrypoints.pages.frame.interrupted_sign_ins import place_page, where_it_goes_on
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import REGISTER, AddressForm, ReturnQuery
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.shared.accounts.passwords import hashed
from entrypoints.shared.sign_in.lookup_email import connection_for
from entrypoints.web.serving.admission.browsers import SIGN_IN
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

SEND_AGAIN: Final = "/app/register/send-again"


class SignInLinkQuery(MailedLink, kw_only=True):
    """The query of a link in the mail about an existing account."""

    forgot: Annotated[str, msgspec.Meta(description="Not empty to choose a new password.")] = ""


class RegistrationForm(AddressForm, kw_only=True):
    """The address and the password of the new account, and what its user is called, or nothing."""

    password: str = ""
    name: str = ""
    anyway: Annotated[
        str, msgspec.Meta(description="The domain of which the page has said that its addresses have another sign-in.")
    ] = ""


@routes.get(REGISTER)
@in_browser_or_not
async def show_registration(
    call: Call, query: ReturnQuery, *, form: RegistrationForm | None = None, refusal: BadRequest | None = None
) -> Page:
    """Show the form that creates an account."""
    kept = await returns.kept_return(call, query)
    context = returns.shown(call, query, kept)
    email = form.email if form is not None else context["proposed_email"]
    return form_page(
        call,
        "accounts/registration.html",
        status=200 if refusal is None else 400,
        connects=True,
        **context,
        way_place=returns.place_of(query, kept),
        is_closed=kept is not None and kept.is_closed,
        email=email,
        name=form.name if form is not None else "",
        required=await _required_sign_in(call, query, kept, email),
        problems=problems_of(refusal),
    )


async def _required_sign_in(
    call: Call, way: ReturnQuery, kept: BrowserReturn | None, email: str
) -> EmailLookupResult | None:
    """Return the sign-in that an organization requires of the domain of an address; None without one."""
    found = await connection_for(call, email, *returns.place_of(way, kept)) if email else None
    return found if found is not None and found.sso_required else None


@routes.post(
    REGISTER,
    limits=(RateLimit.REGISTER, RateLimit.SIGN_IN_GROUP),
    refuses=(PasswordTooCommon, PasswordBreached),
)
@in_browser_or_not
async def submit_registration(call: Call, form: RegistrationForm) -> Page:
    """Create an account, or mail its owner that there is one; the page is the same.

    Programs use `POST /api/auth/register`.
    """
    installation = call.installation
    kept = await returns.kept_return(call, form.way)
    about = [form.email, *((kept.place, kept.owner) if kept is not None else ())]
    try:
        email, password, name = all_valid(
            lambda: normalize_email(form.email, installation.domain_names.to_ascii),
            lambda: passwords.accepted(form.password, "password", installation.password_rules, about),
            lambda: names.checked_or_none(form.name.strip() or None),
        )
        salt = await call.read(open_registrations.salt_of, email)
        password_hash = await hashed(installation, password, salt=salt)
    except BadRequest as refusal:
        return await show_registration(call, form.way, form=form, refusal=refusal)
    required = await _required_sign_in(call, form.way, kept, email)
    if required is not None and form.anyway != required.domain:
        return await show_registration(call, form.way, form=form)
    browser = await returns.requesting_browser(call, form.way)
    await call.transact(registration.register_evenly, email, password_hash, ReturnRequest(), browser, name=name)
    return await _sent(call, form.way, email)


@routes.get("/app/register/sign-in", refuses=(LinkUnusable,))
@public
async def follow_sign_in_link(call: Call, query: SignInLinkQuery) -> PageOrRedirect:
    """Lead on from the mail about an existing account: to the sign-in, for the service of the repeated registration.

    In another browser than the registration's, a page says where to go on.
    """
    link = await call.read(registration.inspect_sign_in_link, query.token)
    way, target = returns.way_of(call, link.browser), FORGOT_PASSWORD if query.forgot else SIGN_IN
    if way is not None or not link.place.name:
        return see_other((way or ReturnQuery()).on(target))
    account = translated(call, "Your account is %(email)s.", email=link.email)
    text = " ".join((account, where_it_goes_on(call, link.place)))
    return await place_page(
        call,
        link.place,
        heading=translated(call, "You have an account already"),
        text=text,
        next_step=(marked("Choose a new password") if query.forgot else marked("Sign in here"), target),
    )


@routes.get(SEND_AGAIN)
@in_browser_or_not
async def show_send_again(call: Call, query: ReturnQuery, *, email: str = "", problem: str = "") -> Page:
    """Show the form that requests the link which verifies an address again, for one that has expired."""
    context = await returns.context(call, query)
    return form_page(
        call,
        "accounts/registration_send_again.html",
        status=400 if problem else 200,
        **context,
        email=email or context["proposed_email"],
        problem=problem,
    )


@routes.post(SEND_AGAIN, limits=(RateLimit.RESEND_VERIFICATION, RateLimit.SIGN_IN_GROUP))
@in_browser_or_not
async def send_again(call: Call, form: AddressForm) -> Page:
    """Mail the link that verifies an address again; the page is the same whether or not an account waits for it."""
    try:
        normalize_email(form.email, call.installation.domain_names.to_ascii)
    except BadRequest as refusal:
        return await show_send_again(call, form.way, email=form.email, problem=refusal.details[0].message)
    browser = await returns.requesting_browser(call, form.way)
    await call.transact(email_verification.resend, form.email, ReturnRequest(), browser)
    return await _sent(call, form.way, form.email)


async def _sent(call: Call, way: ReturnQuery, email: str) -> Page:
    returns.remember_address(call, email)
    return form_page(call, "accounts/registration_done.html", **await returns.context(call, way), email=email)
