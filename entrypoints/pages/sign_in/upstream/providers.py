"""Signing in with an external provider in a browser: the way there, and the way back.

The browser is bound to a sign-in by a cookie, which another site can neither read nor send. A request to a provider is
made between two transactions: the first uses the state up, the second concludes.
"""

import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import fields, replace
from datetime import timedelta
from functools import cache
from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec
from quart import Response

from core.accounts.return_targets import RedirectNotRegistered
from core.accounts.sign_in_methods import Provider
from core.errors import Conflict, Forbidden, NotFound, OrganizationNotActive, Refusal, on_the_way_to
from core.hosts import under
from core.secrets import Secret
from core.sessions import browser_sessions
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.identities import ProvenIdentity
from core.sign_in.mfa_challenges import SecondFactorPending, SignInCompleted
from core.sign_in.reasons import SignInRefused
from core.sign_in.upstream import at_custom_domains, beginning, flows, sign_in
from core.sign_in.upstream.address_codes import AddressCodeDue
from core.sign_in.upstream.beginning import Begun, Wanted
from core.sign_in.upstream.flows import Departure, ProviderClient, ProviderNotOffered, SignInOver, UpstreamSignIn
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.providers import PARAMETERS, CodeExchange, ExternalProvider
from core.sign_in.upstream.sign_in import MailedCodeDue, OtherUserSignedIn, SignInToLink
from entrypoints.pages.console.account import after
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.frame.returns import ReturnQuery
from entrypoints.pages.sign_in import conclusion, mailed_links
from entrypoints.shared.sessions.token_answers import CustomerName, transact_counted
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import SIGN_IN
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("external providers", "Signing in with an account at another provider.", protocol_refusal_page)
# Where a sign-in that began at a custom domain continues.
RETURN: Final = "/auth/upstream/return"
ADDRESS_CODE: Final = "/app/sign-in/address-code"
IDENTITIES: Final = "/app/account/identities"
BINDING_LIFETIME: Final = timedelta(hours=1)
DECLINED: Final = frozenset({"access_denied", "user_cancelled_login", "consent_required", "login_required"})
BEGINNING: Final = (NotFound, ProviderNotOffered, RedirectNotRegistered, OrganizationNotActive, SignInOver, Forbidden)
RETURNING: Final = (SignInOver, UpstreamFailed, Forbidden, SignInRefused, Conflict, NotFound, OrganizationNotActive)


class SignInDeclined(Forbidden):
    """The user has not signed in at the provider, or has not agreed there."""

    default_message = (
        "You have not signed in at the provider. Go back to where you wanted to sign in, and try again, or use another"
        " way there."
    )


class DestinationQuery(ReturnQuery, kw_only=True):
    """Where the sign-in leads: to a service of an organization, to a device that waits, or to a page."""

    org: Annotated[str, msgspec.Meta(description="The slug of the organization.")] = ""
    service: Annotated[str, msgspec.Meta(description="The slug of the service to sign in to.")] = ""
    redirect_uri: Annotated[
        str,
        msgspec.Meta(
            description="The registered address of the service that gets the code; without it the only one is meant."
        ),
    ] = ""
    state: Annotated[str, msgspec.Meta(description="What the service gets back together with the code.")] = ""
    code_challenge: Annotated[str, msgspec.Meta(description="The PKCE challenge of the service.")] = ""
    code_challenge_method: Annotated[str, msgspec.Meta(description="The PKCE method, which is S256.")] = ""
    user_code: Annotated[str, msgspec.Meta(description="The user code of a device that waits.")] = ""
    customer: Annotated[
        CustomerName | None,
        msgspec.Meta(
            description="The customer of the service for which its user comes, by its id or slug; empty for one who"
            " comes as an individual. It takes the service."
        ),
    ] = None

    @property
    def wanted(self) -> Wanted:
        """What the request names."""
        return Wanted(**{one.name: getattr(self, one.name) for one in fields(Wanted)})

    @property
    def sign_in_page(self) -> str:
        """The page from which the browser came, which offers other ways."""
        return self.on(SIGN_IN)


class ProviderQuery(DestinationQuery, kw_only=True):
    """Where the sign-in leads, or the account to link."""

    link: Annotated[str, msgspec.Meta(description="The id of a wish to link an account, valid once.")] = ""


class CallbackQuery(Query, kw_only=True):
    """What the provider answers."""

    state: Annotated[str, msgspec.Meta(description="The state of the sign-in, valid once.")] = ""
    code: Annotated[str, msgspec.Meta(description="The code of the provider.")] = ""
    error: Annotated[str, msgspec.Meta(description="Why there is no code.")] = ""


class OpenIdCallbackQuery(CallbackQuery, kw_only=True):
    """What an OpenID provider answers."""

    iss: Annotated[str, msgspec.Meta(description="The issuer that answers (RFC 9207).")] = ""


class ContinueQuery(Query, kw_only=True):
    """The id of a sign-in that continues after its user has signed in to the account."""

    id: Annotated[str, msgspec.Meta(description="The id of the sign-in, valid once.")] = ""


@routes.get("/auth/codehost", refuses=BEGINNING, status=303)
@in_browser_or_not
async def begin_codehost(call: Call, query: ProviderQuery) -> None:
    """Sign in with codehost: redirect to it, and back to the service or page."""
    await begin(call, Provider.CODEHOST, query)


@routes.get("/auth/websuite", refuses=BEGINNING, status=303)
@in_browser_or_not
async def begin_websuite(call: Call, query: ProviderQuery) -> None:
    """Sign in with websuite: redirect to it, and back to the service or page."""
    await begin(call, Provider.WEBSUITE, query)


@routes.get("/auth/officesuite", refuses=BEGINNING, status=303)
@in_browser_or_not
async def begin_officesuite(call: Call, query: ProviderQuery) -> None:
    """Sign in with officesuite: redirect to it, and back to the service or page."""
    await begin(call, Provider.OFFICESUITE, query)


@routes.get("/auth/codehost/callback", refuses=RETURNING, takes_answer=True)
@in_browser_or_not
async def return_from_codehost(call: Call, query: CallbackQuery) -> PageOrRedirect:
    """Complete a sign-in that codehost has answered."""
    return await arrive(call, Provider.CODEHOST, query)


@routes.get("/auth/websuite/callback", refuses=RETURNING, takes_answer=True)
@in_browser_or_not
async def return_from_websuite(call: Call, query: CallbackQuery) -> PageOrRedirect:
    """Complete a sign-in that websuite has answered."""
    return await arrive(call, Provider.WEBSUITE, query)


@routes.get("/auth/officesuite/callback", refuses=RETURNING, takes_answer=True)
@in_browser_or_not
async def return_from_officesuite(call: Call, query: CallbackQuery) -> PageOrRedirect:
    """Complete a sign-in that officesuite has answered."""
    return await arrive(call, Provider.OFFICESUITE, query)


@routes.get(returns.UPSTREAM_CONTINUE, refuses=RETURNING, takes_answer=True)
@on_custom_hosts
@in_browser_or_not
async def link_after_sign_in(call: Call, query: ContinueQuery) -> PageOrRedirect:
    """Link the account of a provider after its user has signed in, and complete the sign-in with it."""
    began, proven = await call.transact(flows.use_proven, query.id, browser=browsers.upstream_binding(call))
    wanted = conclusion.destination(call, carried_way(began))
    outcome = await transact_counted(call, sign_in.link_and_conclude, began, proven, wanted)
    if outcome is None:
        return await conclusion.go_on(call, await way_of(call, began))
    return await go_on_from(call, began, outcome)


def bind(call: Call) -> str:
    """Bind the browser to a sign-in that begins, and return the value of the cookie."""
    value = browsers.upstream_binding(call) or secrets.token_urlsafe(32)
    call.set_cookie(browsers.cookie_name(call, browsers.UPSTREAM_COOKIE), value, lifetime=BINDING_LIFETIME)
    return value


@contextmanager
def on_the_way_of(call: Call, began: UpstreamSignIn) -> Generator[None]:
    """Explain a refusal in the block with the target of this sign-in, under the brand of its organization."""
    call.return_id = began.way.return_id
    # Linking belongs to the account.
    with on_the_way_to(began.context.organization_id if began.user_id is None else None):
        yield


def callback_of(call: Call, provider: Provider) -> str:
    """Return the address to which a provider sends browsers back."""
    return f"{call.installation.settings.base_url}/auth/{provider}/callback"


def carried_way(began: UpstreamSignIn) -> ReturnQuery:
    """Return what the page carried from which the browser has gone to the provider."""
    return ReturnQuery(return_to=began.way.return_to, return_id=began.way.return_id)


async def way_of(call: Call, began: UpstreamSignIn) -> ReturnQuery:
    """Return where a sign-in leads, in the form that the pages carry on."""
    if began.way.target is None:
        return carried_way(began)
    kept = await call.transact(browser_returns.keep, BrowserReturn(target=began.way.target))
    return ReturnQuery(return_id=kept.reveal())


@asynccontextmanager
async def repeatable(call: Call, began: UpstreamSignIn) -> AsyncGenerator[None]:
    """Let the page of a refusal lead back to where the browser came from: there it can sign in in another way."""
    try:
        yield
    except Refusal:
        call.repeats_at = IDENTITIES if began.user_id is not None else await _sign_in_page(call, began)
        raise


async def _sign_in_page(call: Call, began: UpstreamSignIn) -> str:
    page = (await way_of(call, began)).on(SIGN_IN)
    return f"{_domain_of(call, began)}{page}" if began.is_away else page


def _domain_of(call: Call, began: UpstreamSignIn) -> str:
    """Return the address of the custom domain at which a sign-in began."""
    return under(began.domain.name if began.domain is not None else None, call.installation.settings.base_url)


async def complete(call: Call, began: UpstreamSignIn, proven: ProvenIdentity) -> Response:
    """Conclude a sign-in with a proven identity, or link it; lead one that began at a custom domain back to there."""
    with on_the_way_of(call, began):
        if began.is_away:
            ticket = await call.transact(at_custom_domains.send_back, began, proven)
            return see_other(f"{_domain_of(call, began)}{RETURN}?{urlencode({'id': ticket.reveal()})}")
        return await _complete(call, began, proven)


async def _complete(call: Call, began: UpstreamSignIn, proven: ProvenIdentity) -> Response:
    browser = browsers.upstream_binding(call)
    assert browser is not None, "a browser has come back without the cookie that was checked"
    if began.user_id is not None:
        if call.browser is None:
            raise OtherUserSignedIn
        _, cookie = await call.transact(
            browser_sessions.and_renew, call.browser, sign_in.link, began, proven, call.browser
        )
        browsers.keep_session(call, cookie)
        return after(IDENTITIES, "linked")
    wanted = conclusion.destination(call, carried_way(began))
    outcome = await transact_counted(call, sign_in.conclude, began, proven, wanted, browser=browser)
    return await go_on_from(call, began, outcome)


async def go_on_from(
    call: Call, began: UpstreamSignIn, outcome: SignInCompleted | SecondFactorPending | SignInToLink | AddressCodeDue
) -> Response:
    """Lead a browser on that has come back; to a sign-in to the account, where that is to come before."""
    if isinstance(outcome, AddressCodeDue):
        return see_other(carried_way(began).on(ADDRESS_CODE, id=outcome.continue_id.reveal()))
    if not isinstance(outcome, SignInToLink):
        return await conclusion.conclude(call, outcome, await way_of(call, began))
    target = returns.linking_target(outcome.continue_id.reveal(), began.context.connection_id)
    before = await returns.kept_return(call, carried_way(began))
    answering = began.way.target if before is None else before.answering
    wanted = BrowserReturn(
        target=target,
        # Without a service, the organization would have to be chosen before.
        organization_slug=before.organization_slug if before is not None and before.service_slug else None,
        service_slug=before.service_slug if before is not None else None,
        email=outcome.email,
        request_target=answering,
        language=call.language,
    )
    if isinstance(outcome, MailedCodeDue):
        kept = await call.transact(browser_returns.keep, wanted)
        return await mailed_links.mail_link(call, ReturnQuery(return_id=kept.reveal()), outcome.email)
    present = call.browser
    if present is not None and (
        present.user_id not in outcome.user_ids or not sign_in.may_link(present, began.context)
    ):
        # Proving again to be there would continue the session, which is another user's or has its limits.
        anew = replace(wanted, not_in_session=present.session_id)
        return see_other(await browsers.sign_in_address(call, anew, page=SIGN_IN))
    page = await conclusion.sign_in_page(call, wanted.organization_slug, wanted.service_slug)
    return see_other(await browsers.sign_in_address(call, wanted, page=page))


async def begin(call: Call, provider: Provider, query: ProviderQuery) -> None:
    """Redirect to a provider, and let the browser come back to where the query leads."""
    external = call.installation.external_providers[provider]
    call.repeats_at = query.sign_in_page
    if query.link and call.browser is None:
        # The browser has to sign in first.
        target = f"/auth/{provider}?{urlencode({'link': query.link})}"
        call.headers["Location"] = await browsers.sign_in_address(call, BrowserReturn(target=target), page=SIGN_IN)
        return
    # The provider is asked first: if it does not answer, no sign-in begins.
    authorize_url = await call.installation.upstream.authorize_url(external)
    if query.link:
        begun = await _begin_link(call, external, query.link)
    else:
        begun = await call.transact(beginning.begin, external, query.wanted, browser=bind(call))
    call.headers["Location"] = begun.departure.address(
        authorize_url,
        redirect_uri=callback_of(call, provider),
        scopes=begun.scopes,
        extra=PARAMETERS.get(provider),
    )


async def _begin_link(call: Call, external: ExternalProvider, link_id: str) -> Begun:
    assert call.browser is not None, "an account is linked in a browser without a session"
    link = await call.transact(flows.use_link, external.provider, link_id)
    if link.user_id != call.browser.user_id:
        raise OtherUserSignedIn
    return await call.transact(beginning.begin_link, external, link, browser=bind(call))


async def arrive(call: Call, provider: Provider, query: CallbackQuery) -> Response:
    """Complete the sign-in of a browser that comes back from a provider."""
    departure = await call.transact(flows.arrive, provider, query.state, browser=browsers.upstream_binding(call))
    with on_the_way_of(call, departure.sign_in):
        async with repeatable(call, departure.sign_in):
            return await _arrived(call, provider, query, departure)


def code_of(query: CallbackQuery) -> Secret:
    """Return the code that a provider has answered; raise `SignInDeclined`, or `UpstreamFailed` without one."""
    if query.error in DECLINED:
        raise SignInDeclined
    if query.error or not query.code:
        raise UpstreamFailed().because("no_code")
    return Secret(query.code)


def exchange_of(code: Secret, departure: Departure, client: ProviderClient, redirect_uri: str) -> CodeExchange:
    """Return what a code is exchanged with: our credentials, and what the browser had taken along."""
    return CodeExchange(
        client=client, code=code, verifier=departure.verifier, nonce=departure.nonce, redirect_uri=redirect_uri
    )


async def _arrived(call: Call, provider: Provider, query: CallbackQuery, departure: Departure) -> Response:
    external = call.installation.external_providers[provider]
    if isinstance(query, OpenIdCallbackQuery):
        await call.installation.upstream.require_own_answer(external, query.iss)
    code = code_of(query)
    client = await call.read(beginning.client_of, departure.sign_in, external)
    exchange = exchange_of(code, departure, client, callback_of(call, provider))
    proven = await call.installation.upstream.identify(external, exchange)
    return await _complete(call, departure.sign_in, proven)


def routes_of(external: ExternalProvider) -> Routes:
    """Return the routes of an added provider."""
    return _routes_of(external.provider)


@cache
def _routes_of(provider: Provider) -> Routes:
    # Made once for each name, so that the tables of paths are shared as well.
    added = Routes(routes.capability, routes.description, protocol_refusal_page)

    async def leave(call: Call, query: ProviderQuery) -> None:
        """Sign in with a provider that the operator has added: redirect to it, and back to the service or page."""
        await begin(call, provider, query)

    async def come_back(call: Call, query: OpenIdCallbackQuery) -> PageOrRedirect:
        """Complete a sign-in that a provider which the operator has added has answered."""
        return await arrive(call, provider, query)

    leave.__name__, come_back.__name__ = f"begin_{provider}", f"return_from_{provider}"
    path = f"/auth/{provider}"
    added.get(path, refuses=(*BEGINNING, UpstreamFailed), status=303)(in_browser_or_not(leave))
    added.get(f"{path}/callback", refuses=RETURNING, takes_answer=True)(in_browser_or_not(come_back))
    return added
