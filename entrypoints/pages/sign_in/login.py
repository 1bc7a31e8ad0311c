"""The sign-in page: the address first, then what that address uses. It works without scripts.

What the second step offers depends on the domain of the address alone, so that it tells nothing about accounts.
"""

from typing import Final

from quart import Response

from core.email_addresses import normalize_email
from core.errors import BadRequest, Refusal, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import lookup_email
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.lookup_email import EmailLookupResult
from core.sign_in.refusals import SignInRefused
from core.sign_in.upstream import beginning
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.rendering import PageOrRedirect, form_page
from entrypoints.pages.frame.returns import AddressForm, ReturnQuery
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.shared.sign_in.identities import offered_by_platform
from entrypoints.shared.sign_in.login import authenticate
from entrypoints.web.serving.browsers import SIGN_IN
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not
from entrypoints.web.serving.hosts import on_custom_hosts

routes = sign_in_pages()

PASSWORD: Final = "/app/sign-in/password"  # noqa: S105 - a path, not a secret
LIMITS: Final = (RateLimit.LOGIN, RateLimit.SIGN_IN_GROUP)


class PasswordForm(AddressForm, kw_only=True):
    """The second step, by password; `stay` is a box to tick."""

    password: str = ""
    stay: str = ""


@routes.get(SIGN_IN)
@on_custom_hosts
@in_browser_or_not
async def show_sign_in(call: Call, query: ReturnQuery) -> PageOrRedirect:
    """Show the sign-in page; a browser that is signed in is led on, unless its session does not go there."""
    if call.browser is not None and await conclusion.goes_on(call, query):
        return await conclusion.go_on(call, query)
    return await address_page(call, query)


@routes.post(SIGN_IN, limits=(RateLimit.SIGN_IN_GROUP,))
@on_custom_hosts
@in_browser_or_not
async def submit_address(call: Call, form: AddressForm) -> PageOrRedirect:
    """Show how addresses of this domain sign in."""
    try:
        normalize_email(form.email, call.installation.domain_names.to_ascii)
    except BadRequest:
        return await address_page(call, form.way, email=form.email, is_invalid=True)
    return await methods_page(call, form.way, form.email.strip())


@routes.get(PASSWORD, status=303)
@on_custom_hosts
@in_browser_or_not
async def show_password(call: Call, query: ReturnQuery) -> None:
    """Redirect to the first step: this page needs an address."""
    call.headers["Location"] = query.on(SIGN_IN)


@routes.post(PASSWORD, limits=LIMITS, refuses=(SignInRefused, SsoRequired))
@on_custom_hosts
@in_browser_or_not
async def submit_password(call: Call, form: PasswordForm) -> PageOrRedirect:
    """Sign in with a password; programs use `POST /api/auth/login`."""
    stays_signed_in = bool(form.stay)
    wanted = conclusion.destination(call, form.way, stays_signed_in=stays_signed_in)
    try:
        outcome = await authenticate(call, form.email, form.password, wanted)
    except (SignInRefused, SsoRequired, BadRequest) as refusal:
        return await methods_page(call, form.way, form.email, refusal=refusal, stay=form.stay)
    return await conclusion.conclude(call, outcome, form.way, stays_signed_in=stays_signed_in)


async def address_page(
    call: Call, way: ReturnQuery, *, email: str = "", is_invalid: bool = False, refusal: Refusal | None = None
) -> Response:
    """Return the page of the first step, with what was refused."""
    status = 400 if is_invalid else 200 if refusal is None else refusal.code.status
    kept = await returns.kept_return(call, way)
    return form_page(
        call,
        "sign_in/login.html",
        status=status,
        connects=True,
        **returns.shown(call, way, kept),
        email=email,
        is_invalid=is_invalid,
        providers=await _providers_of(call, kept),
        problem=refusal.message if refusal is not None else "",
    )


async def _providers_of(call: Call, kept: BrowserReturn | None) -> list[str]:
    """Return the external providers with which a sign-in may continue that leads this way."""
    if call.custom_host is not None:
        # The sign-in would begin under the base URL, whose session does not work here.
        return []
    providers = list(call.installation.external_providers)
    return list(await call.read(beginning.offered, kept, offered_by_platform(call), providers))


async def methods_page(
    call: Call,
    way: ReturnQuery,
    email: str,
    *,
    refusal: Refusal | None = None,
    stay: str = "",
) -> Response:
    """Return the page of the second step, with what was refused, and the connection of the address's domain.

    The connection is there only where its session may go on.
    """
    returns.remember_address(call, email)
    kept = await returns.kept_return(call, way)
    return form_page(
        call,
        "sign_in/login_methods.html",
        status=refusal.code.status if refusal is not None else 200,
        connects=True,
        **returns.shown(call, way, kept),
        email=email,
        problem=refusal.message if refusal is not None else "",
        stay=stay,
        connection=await _connection(call, way, kept, email),
    )


async def _connection(call: Call, way: ReturnQuery, kept: BrowserReturn | None, email: str) -> EmailLookupResult | None:
    """Return the connection of an address's domain; None where it has none, or where it does not sign in."""
    organization = returns.organization_of(way, kept)
    if organization is None and call.custom_host is not None:
        organization = call.custom_host.organization_slug
    try:
        found = await call.read(lookup_email.by_domain, email, base_url="", organization_slug=organization)
    except BadRequest:
        return None
    return found if found.connection_id is not None else None
