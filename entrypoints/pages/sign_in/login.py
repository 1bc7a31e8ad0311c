"""The sign-in page: the address first, then the ways for that address. It works without scripts.

The ways depend on the domain of the address alone, so that they tell nothing about accounts. Where an organization
requires its own sign-in for a domain, the page leads on there, and keeps a link to the other ways for people who are
exempt: the organization's owner and platform owners.

A person who comes back from a provider, and signs in to the account once to link the two, is never led there again: the
page offers a password and a mailed code, and not the connection that they come from.
"""

from typing import Final

from quart import Response

from core.email_addresses import normalize_email
from core.errors import BadRequest, Refusal, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.lookup_email import EmailLookupResult
from core.sign_in.reasons import SignInRefused
from core.sign_in.upstream import beginning
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.rendering import PageOrRedirect, form_page
from entrypoints.pages.frame.returns import AddressForm, ReturnQuery
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.conclusion import UPSTREAM
from entrypoints.shared.sign_in.identities import offered_by_platform
from entrypoints.shared.sign_in.login import authenticate
from entrypoints.shared.sign_in.lookup_email import connection_for
from entrypoints.web.serving.admission.browsers import SIGN_IN
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()

ANOTHER_WAY: Final = "/app/sign-in/another-way"
# How long the page of a required sign-in waits before it leads on: long enough to choose another way.
LEADING_SECONDS: Final = 5
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
    """Show the sign-in page; redirect a signed-in browser to the target, unless its session does not open that."""
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
    email = form.email.strip()
    kept = await returns.kept_return(call, form.way)
    connection = await connection_for(call, email, *returns.place_of(form.way, kept))
    if connection is not None and connection.sso_required and not returns.is_linking(kept):
        return _required_page(call, form.way, kept, email, connection)
    return _methods_page(call, form.way, kept, email, connection)


@routes.get(ANOTHER_WAY)
@on_custom_hosts
@in_browser_or_not
async def show_another_way(call: Call, query: ReturnQuery) -> PageOrRedirect:
    """Show every way in which the address that was typed last may sign in."""
    kept = await returns.kept_return(call, query)
    email = returns.typed_address(call)
    try:
        normalize_email(email, call.installation.domain_names.to_ascii)
    except BadRequest:
        return await address_page(call, query)
    return _methods_page(call, query, kept, email, await connection_for(call, email, *returns.place_of(query, kept)))


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
    kept = await returns.kept_return(call, way)
    connection = await connection_for(call, email, *returns.place_of(way, kept))
    return _methods_page(call, way, kept, email, connection, refusal=refusal, stay=stay)


def _methods_page(
    call: Call,
    way: ReturnQuery,
    kept: BrowserReturn | None,
    email: str,
    connection: EmailLookupResult | None,
    *,
    refusal: Refusal | None = None,
    stay: str = "",
) -> Response:
    returns.remember_address(call, email)
    return form_page(
        call,
        "sign_in/login_methods.html",
        status=refusal.code.status if refusal is not None else 200,
        connects=True,
        **returns.shown(call, way, kept),
        email=email,
        problem=refusal.message if refusal is not None else "",
        stay=stay,
        connection=None if connection is None or returns.has_come_from(kept, connection.connection_id) else connection,
    )


def _required_page(
    call: Call, way: ReturnQuery, kept: BrowserReturn | None, email: str, connection: EmailLookupResult
) -> Response:
    """Return the page that opens the sign-in that an organization requires for an address."""
    returns.remember_address(call, email)
    address = way.on(UPSTREAM, connection_id=str(connection.connection_id))
    shown = form_page(
        call,
        "sign_in/login_required.html",
        **returns.shown(call, way, kept),
        email=email,
        connection=connection,
        address=address,
    )
    shown.headers["Refresh"] = f"{LEADING_SECONDS}; url={address}"
    return shown
