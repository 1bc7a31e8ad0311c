"""Single sign-on: the request of a service provider, by redirect or by POST, and its answer, also without a request.

A browser sends no cookie with a POST from another site. So a posted request is stored, and answered with a redirect to
a GET, with which the browser sends its cookies.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec
from quart import Response

from core.errors import Forbidden, OrganizationNotActive, Refusal, SsoRequired, on_the_way_to
from core.limits import SAML_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.organizations.authorization import MembershipSuspended
from core.organizations.session_strength import SecondFactorRequired
from core.rate_limits import RateLimit
from core.saml import answering, identity_providers, requests
from core.saml.answers import AgreementRequired, AuthenticationRequired, CustomerQuestion, ResponseToPost
from core.saml.identity_providers import ProviderUnknown, SamlProvider
from core.saml.messages import RELAY_STATE_CHARACTERS_MAX, AuthnRequest, EncodedMessage, MessageRefused, SamlBinding
from core.saml.requests import SentRequest, SignInStateUnknown
from core.saml.visits import SignedIn, Visit
from core.secrets import Secret
from core.sessions.caller_limits import ConfinedElsewhere
from core.sessions.refresh import SessionOver
from core.sign_in.admission import ServiceNotOpenToUser
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.customer_choices import CustomerDue
from core.sign_in.reasons import SecondFactorDue, SignInRefused
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.refusals import protocol_refusal_page, refusal_page
from entrypoints.pages.frame.rendering import Page, form_page
from entrypoints.pages.saml import messages
from entrypoints.pages.sign_in.conclusion import send_to_connection, send_to_sign_in
from entrypoints.shared.sessions import token_answers
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.credentials import in_browser_or_not, in_organization, public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.admission.impersonating import StopFirst
from entrypoints.web.serving.answering.answers import AnswerStatus, refused, see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", "Signing in to applications by SAML, in a browser.", protocol_refusal_page)

LIMITS: Final = (RateLimit.SAML,)
REFUSES: Final = (
    MessageRefused,
    SignInStateUnknown,
    ProviderUnknown,
    OrganizationNotActive,
    Forbidden,
    MembershipSuspended,
    SecondFactorRequired,
    SignInRefused,
    SessionOver,
)

Redirect = Annotated[None, AnswerStatus(303)]


class SsoQuery(Query, kw_only=True):
    """A request by redirect, or the state of one that waits; and the customer, as `AddressQuery` says."""

    saml_request: str = msgspec.field(name="SAMLRequest", default="")
    relay_state: str | None = msgspec.field(name="RelayState", default=None)
    saml_state: str = ""
    customer: CustomerName | None = None


class AddressQuery(Query, kw_only=True):
    """The customer of the service that an address names, by id or slug; empty for none."""

    customer: CustomerName | None = None


class SsoForm(msgspec.Struct, kw_only=True):
    """A request by POST."""

    saml_request: str = msgspec.field(name="SAMLRequest", default="")
    relay_state: str | None = msgspec.field(name="RelayState", default=None)


@routes.get("/saml/:org_slug/:service_slug/sso", limits=LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def sign_on_by_redirect(call: Call, org_slug: str, service_slug: str, query: SsoQuery) -> Page | Redirect:
    """Take a request for a sign-in, and answer it if this browser is signed in.

    The answer is a form that posts itself to the service provider.
    """
    if query.saml_state:
        found = await call.read(requests.find, org_slug, service_slug, query.saml_state, messages.browser_key(call))
        outcome = await call.transact(answering.answer, found.provider, found.pending, visit(call))
        if isinstance(outcome, ResponseToPost):
            return await answered(call, outcome)
        return see_other(address(found.provider, "authenticate", query.saml_state))
    provider = await call.read(identity_providers.find, org_slug, service_slug)
    message = messages.encoded(
        SamlBinding.REDIRECT, query.saml_request, "", query.relay_state, call.request.query_string
    )
    async with _recorded_refusal(call, provider):
        sent = await _sent(call, provider, message, query.customer)
        done = await call.transact(answering.take_and_answer, provider, sent, visit(call))
    if isinstance(done.outcome, ResponseToPost):
        return await answered(call, done.outcome)
    messages.keep_browser_key(call, done.taken.browser_key)
    return see_other(address(provider, "authenticate", done.taken.state.reveal()))


@routes.post(
    "/saml/:org_slug/:service_slug/sso",
    status=303,
    limits=LIMITS,
    body_bytes_max=SAML_BODY_BYTES_MAX,
    is_verified_by_content=True,
    refuses=REFUSES,
)
@on_custom_hosts
@public
async def sign_on_by_post(call: Call, org_slug: str, service_slug: str, form: SsoForm, query: AddressQuery) -> None:
    """Take a request for a sign-in; the answer follows the redirect."""
    provider = await call.read(identity_providers.find, org_slug, service_slug)
    message = messages.encoded(SamlBinding.POST, form.saml_request, "", form.relay_state)
    async with _recorded_refusal(call, provider):
        taken = await call.transact(requests.take, provider, await _sent(call, provider, message, query.customer))
    messages.keep_browser_key(call, taken.browser_key)
    call.headers["Location"] = address(provider, "sso", taken.state.reveal())


async def answered(call: Call, answer: ResponseToPost) -> Response:
    """Return the page that posts an answer to the service provider."""
    value = await call.installation.saml.response(answer.response, answer.key)
    if answer.device_token is not None:
        token_answers.remember_device(call, answer.device_token)
    # Without a problem nothing is read there: the page posts itself.
    brand = await brand_of(call, answer.organization_id) if answer.problem is not None else None
    return messages.carry_answer(call, answer, value, brand)


async def agreement_page(
    call: Call,
    provider: SamlProvider,
    wanted: AgreementRequired,
    *,
    saml_state: str = "",
    relay_state: str | None = None,
    customer: str | None = None,
) -> Response:
    """Return the page that asks the user whether to sign in to a service; `customer` is what the link to it names."""
    return form_page(
        call,
        "saml/answering_agreement.html",
        wanted=wanted,
        action=f"{provider.path}/authenticate",
        saml_state=saml_state,
        relay_state=relay_state,
        customer=customer,
        brand=await brand_of(call, provider.organization_id),
    )


async def customer_page(
    call: Call,
    provider: SamlProvider,
    question: CustomerQuestion,
    *,
    saml_state: str = "",
    relay_state: str | None = None,
) -> Response:
    """Return the page that asks the user for which customer of a service they come."""
    fields: dict[str, str | Secret] = {"saml_state": saml_state}
    if question.added_by is not None:
        fields["joins"] = "yes"
    if question.ticket is not None:
        fields["ticket"] = question.ticket
    if relay_state is not None:
        fields["relay_state"] = relay_state
    return form_page(
        call,
        "saml/answering_customers.html",
        question=question,
        action=f"{provider.path}/authenticate",
        saml_state=saml_state,
        fields=fields,
        brand=await brand_of(call, provider.organization_id),
    )


@asynccontextmanager
async def _recorded_refusal(call: Call, provider: SamlProvider) -> AsyncGenerator[None]:
    """Record why a message is refused, for the people who set the application up."""
    try:
        with on_the_way_to(provider.organization_id):
            yield
    except MessageRefused as refused:
        await call.transact(requests.record_refusal, provider, refused)
        raise


async def _sent(call: Call, provider: SamlProvider, message: EncodedMessage, customer: str | None) -> SentRequest:
    """Return the request in a message; raise `MessageRefused` for a message of another kind."""
    request = await call.installation.saml.read(message, provider.configuration.sp_certificate)
    if not isinstance(request, AuthnRequest):
        raise MessageRefused("It is of a kind that is not taken here.")
    return SentRequest(
        request=request,
        relay_state=message.relay_state,
        browser_key=messages.browser_key(call),
        base_url=hosts.issuer_of(call),
        customer=customer,
    )


def visit(call: Call) -> Visit:
    """Return who visits, before they have agreed to anything."""
    browser = call.browser
    return Visit(
        base_url=hosts.issuer_of(call),
        signed_in=SignedIn(session_id=browser.session_id, user_id=browser.user_id) if browser is not None else None,
        device_token=token_answers.destination(call).device_token,
    )


def address(provider: SamlProvider, page: str, state: str) -> str:
    """Return the address of a page for the request that waits under the state."""
    return f"{provider.path}/{page}?{urlencode({'saml_state': state})}"


_OWN_SITE: Final = "same-origin"


class LoginQuery(Query, kw_only=True):
    """What the service provider is to get with the assertion, and the customer, as `AddressQuery` says."""

    relay_state: Annotated[str, msgspec.Meta(max_length=RELAY_STATE_CHARACTERS_MAX)] | None = msgspec.field(
        name="RelayState", default=None
    )
    customer: CustomerName | None = None


def login_refusal(call: Call, refusal: Refusal) -> Response:
    """Return a page for a browser, and JSON for everything else."""
    if "text/html" in call.request.headers.get("Accept", ""):
        return refusal_page(call, refusal)
    installation = call.installation
    return refused(
        refusal, request_id=call.request_id, at=installation.clock(), base_url=installation.settings.base_url
    )


login_routes = Routes("SAML", routes.description, login_refusal)


@login_routes.get(
    "/api/organizations/:org_slug/services/:service_slug/saml/login",
    limits=LIMITS,
    refuses=(*REFUSES, SecondFactorDue, SsoRequired),
)
@in_organization(Operation.SAML_LOGIN, or_browser=True)
async def log_in(call: Call, org_slug: str, service_slug: str, query: LoginQuery) -> Page | Redirect:
    """Answer with a form that signs you in to the application.

    In a browser that comes from another site, a page asks first. At a service with customers, `customer` says for which
    you come; a program that leaves it out is refused (403) where you would have to be asked.
    """
    if call.acts_for is not None:
        # As on the other ways to an application.
        raise StopFirst
    is_asked = call.browser is None or call.request.headers.get("Sec-Fetch-Site") == _OWN_SITE
    visit = Visit(
        base_url=call.installation.settings.base_url,
        device_token=token_answers.destination(call).device_token,
        has_agreed=is_asked,
        is_by_program=call.browser is None,
        relay_state=query.relay_state,
        customer=query.customer,
        # A program has no other way to answer the question.
        chosen=query.customer if call.browser is None else None,
    )
    begun = await call.transact(answering.initiate, org_slug, service_slug, visit)
    if isinstance(begun.outcome, ResponseToPost):
        return await answered(call, begun.outcome)
    if isinstance(begun.outcome, AgreementRequired):
        if call.browser is None:
            # A program has agreed; the membership is confirmed on a page.
            raise ServiceNotOpenToUser
        return await agreement_page(
            call, begun.provider, begun.outcome, relay_state=query.relay_state, customer=query.customer
        )
    if isinstance(begun.outcome, CustomerQuestion):
        if call.browser is None:
            raise CustomerDue
        return await customer_page(call, begun.provider, begun.outcome, relay_state=query.relay_state)
    return await _sign_in_again(call, org_slug, service_slug, query, begun.outcome)


async def _sign_in_again(
    call: Call, org_slug: str, service_slug: str, query: LoginQuery, needed: AuthenticationRequired
) -> Response:
    if call.browser is None:
        if needed.is_anew:
            raise ConfinedElsewhere
        raise SsoRequired if needed.connection_id is not None else SecondFactorDue
    named = f"?{urlencode({'customer': query.customer})}" if query.customer is not None else ""
    wanted = BrowserReturn(target=f"{call.request.path}{named}", organization_slug=org_slug, service_slug=service_slug)
    return await send_to_authenticate(call, wanted, needed)


async def send_to_authenticate(call: Call, wanted: BrowserReturn, needed: AuthenticationRequired) -> Response:
    """Lead a browser to the sign-in, as the service and its customer require it."""
    if needed.connection_id is not None:
        return await send_to_connection(call, wanted, needed.connection_id)
    not_in_session = call.in_browser.session_id if needed.is_anew and call.browser is not None else None
    return await send_to_sign_in(call, replace(wanted, not_in_session=not_in_session))
