"""Answering authorization requests: with a code, a sign-in, a question to the user, or a refusal for the service.

The user signs in to Gatehouse in the browser; the service gets a session of its own, the child of the browser's, and
its code. The questions to the user are in `questions.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.errors import Refusal, SsoRequired, on_the_way_to
from core.openid import client_troubles, clients, questions, requests, scopes, token_grants
from core.openid.answers import Answer, LeadBack, SetupNeeded, SignInNeeded, Visitor
from core.openid.client_troubles import RedirectUriRefused, RequestOver, RequestRefused
from core.openid.clients import Client
from core.openid.questions import Consent, Visit
from core.openid.requests import FORM_POST, AnswerAddress, AuthorizationRefused, AuthorizationRequest
from core.organizations.session_strength import SecondFactorRequired
from core.secrets import hash_token
from core.sessions import security_profiles
from core.sessions.browser_sessions import BrowserSession
from core.sign_in import child_sessions
from core.sign_in.child_sessions import PreparedVisit
from core.sign_in.login_events import note_refusal
from core.sign_in.proofs import Destination, UsedWay
from core.sign_in.reasons import SecondFactorDue, SignInReason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# What a service with `prompt=none` reads: no user is signed in, or the session is confined to something else.
_SIGN_IN: Final = "login_required"
_ELSEWHERE: Final = "interaction_required"


def begin(
    uow: UnitOfWork, client_id: UUID, parameters: Mapping[str, str], visitor: Visitor, *, issuer: str
) -> Answer | Refusal:
    """Answer the parameters of a request, or the pushed request that they name; raise `RequestRefused`.

    Raise `OtherWayRefused` when a client with a security profile has not pushed it.
    """
    client, visitor = _arrived(uow, client_id, visitor)
    try:
        return _answer(uow, client, requests.arrived(uow, client, parameters), visitor, issuer=issuer)
    except AuthorizationRefused as refused:
        return _refusal(uow, client, refused, issuer)
    except RedirectUriRefused as refused:
        raise client_troubles.leaving_address(refused, client) from None


def receive(uow: UnitOfWork, client_id: UUID, parameters: Mapping[str, str]) -> str:
    """Store the parameters of a request that came by a form, and return the `request_uri` with which it goes on."""
    return requests.receive(uow, _client(uow, client_id), parameters)


def resume(uow: UnitOfWork, request_id: str, visitor: Visitor, *, issuer: str) -> Answer | Refusal:
    """Answer a request that has waited for a sign-in; raise `RequestOver`."""
    client, request = _use(uow, request_id)
    return _answer(uow, client, request, visitor, issuer=issuer, request_key=hash_token(request_id))


def allow(
    uow: UnitOfWork,
    request_id: str,
    visitor: Visitor,
    *,
    issuer: str,
    customer: str | None = None,
    confirms_membership: bool = False,
    name: str | None = None,
) -> Answer | Refusal:
    """Answer a request whose user has consented, for the customer that they have chosen; raise `RequestOver`.

    A consent on the page of one customer does not count for another one: `customer` names it. With
    `confirms_membership` the page has said that the organization of the service has added them. `name` is what they
    have typed if they were asked for a name, None otherwise.
    """
    client, request = _use(uow, request_id)
    named = request.customer if customer is None else customer
    allowed = replace(request, prompts=[], customer=named if client.service.serves_customers else None)
    if name is not None and visitor.browser is not None:
        asked_again = questions.answer_name(uow, client, allowed, visitor.browser, name, joins=confirms_membership)
        if asked_again is not None:
            return asked_again
    consent = Consent.TO_MEMBERSHIP if confirms_membership else Consent.TO_SERVICE
    return _answer(uow, client, allowed, visitor, issuer=issuer, consent=consent)


def deny(uow: UnitOfWork, request_id: str, visitor: Visitor, *, issuer: str, may_enter: bool = True) -> LeadBack:
    """Answer a request whose user refused consent, or has cancelled the sign-in; raise `RequestOver`.

    Without `may_enter` the user has left the page that says that they have no access.
    """
    client, request = _use(uow, request_id)
    if not may_enter:
        return _refusal(uow, client, request.refused("access_denied", questions.NOT_LET_IN), issuer)
    return _denied(uow, client, request, visitor, issuer)


def decline(
    uow: UnitOfWork, client_id: UUID, parameters: Mapping[str, str], visitor: Visitor, *, issuer: str
) -> LeadBack:
    """Answer a request that has not begun, because its user has cancelled the sign-in that leads to it."""
    client = _client(uow, client_id)
    try:
        return _denied(uow, client, requests.parse(client, parameters), visitor, issuer)
    except AuthorizationRefused as refused:
        return _refusal(uow, client, refused, issuer)


def with_parameters(address: str, **parameters: str | None) -> str:
    """Return an address with further parameters; None is left out."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{address}{'&' if '?' in address else '?'}{urlencode(given)}"


def _answer(
    uow: UnitOfWork,
    client: Client,
    request: AuthorizationRequest,
    visitor: Visitor,
    *,
    issuer: str,
    request_key: bytes | None = None,
    consent: Consent = Consent.NONE,
) -> Answer | Refusal:
    browser = visitor.browser
    # A request may have waited since before the service gave up customers; its user comes without one.
    request = request if client.service.serves_customers or not request.customer else replace(request, customer=None)
    if browser is not None and not request.is_for(browser.user_id):
        # The service must not get another user than it names (OpenID Connect Core, 3.1.2.2).
        _note(uow, client, request, visitor, SignInReason.OTHER_SUBJECT)
        return _refusal(uow, client, request.refused("login_required", "Another user is signed in."), issuer)
    if browser is None:
        return _sign_in_for_customer(uow, client, request, visitor)
    if _needs_sign_in(client, request, browser, uow.now):
        return _sign_in(uow, client, request, visitor)
    if not request.is_met_by(scopes.TWO_FACTORS if browser.has_proved_second_factor else scopes.ONE_FACTOR):
        _note(uow, client, request, visitor, SignInReason.NO_AUTHN_CONTEXT)
        unmet = request.refused("unmet_authentication_requirements", "None of the essential classes is met.")
        return _refusal(uow, client, unmet, issuer)
    prepared = (visitor.prepared or _prepare(uow, client.id, browser, visitor)).to(
        Destination(
            organization_slug=client.organization_slug,
            service_slug=client.service.slug,
            device_token=visitor.device_token,
            parent_id=browser.session_id,
            is_pushed=request.was_pushed,
            confirms_membership=consent is Consent.TO_MEMBERSHIP,
        )
    )
    place = prepared.circumstances.place()
    if client.service.serves_customers:
        settled = questions.settle_customer(
            uow,
            Visit(client=client, request=request, browser=browser, place=place),
            is_allowed=consent is not Consent.NONE,
            expects_another=questions.expects_another(uow, request, browser),
            note=partial(_note, uow, client, request, visitor),
        )
        if not isinstance(settled, AuthorizationRequest):
            return settled or replace(_sign_in_for_customer(uow, client, request, visitor, _ELSEWHERE), is_anew=True)
        request = settled
    visit = Visit(client=client, request=request, browser=browser, place=place)
    is_asked = (
        consent is Consent.NONE
        and not request.customer
        and questions.needs_answer(uow, visit, visitor.key, request_key)
    )
    note_reason = partial(_note, uow, client, request, visitor)
    before = questions.consent_before(uow, visit, prepared, consent, is_asked=is_asked, note=note_reason)
    if before is not None:
        return before
    return _begun(uow, client, request, visitor, prepared, issuer)


def _begun(
    uow: UnitOfWork,
    client: Client,
    request: AuthorizationRequest,
    visitor: Visitor,
    prepared: PreparedVisit,
    issuer: str,
) -> Answer | Refusal:
    """Begin the session of the service, and answer with its code; or lead to what is missing for that."""
    organization_id, code = client.service.organization_id, uow.randomness.token()
    try:
        with on_the_way_to(organization_id):
            outcome = prepared.begin(request.customer, code=code)
    except SecondFactorRequired:
        _note(uow, client, request, visitor, SignInReason.SECOND_FACTOR_REQUIRED)
        return _set_up(uow, client, request)
    if isinstance(outcome, (SecondFactorDue, SsoRequired)):
        error = _ELSEWHERE if client.service.serves_customers else _SIGN_IN
        needed = _sign_in(uow, client, request, visitor, error)
        is_by_customer = isinstance(outcome, SsoRequired) and bool(request.customer)
        required = prepared.circumstances.required_connection() if is_by_customer else None
        return replace(needed, connection_id=required.connection_id) if required is not None else needed
    if isinstance(outcome, Refusal):
        return outcome.on_the_way_to(organization_id)
    requests.use_pushed(uow, client, request.to)
    token_grants.issue_code(uow, client, request, outcome.session.id, code)
    return _lead_back(request.to, code=code.reveal(), state=request.state, iss=issuer)


def _needs_sign_in(client: Client, request: AuthorizationRequest, browser: BrowserSession, at: datetime) -> bool:
    limits, service = browser.confinement, client.service
    if limits is not None and not service.serves_customers and not limits.allows(service.organization_id, service.id):
        # The session is confined to another organization or service, so its user signs in for this one.
        return True
    authenticated_at = browser.authenticated_at
    if not {"login", "create"}.isdisjoint(request.prompts) or (
        request.wants_second_factor and not browser.has_proved_second_factor
    ):
        return True
    if request.has_to_be_new and request.asked_at is not None and authenticated_at.timestamp() < request.asked_at:
        return True
    max_age = request.max_age_seconds
    return max_age is not None and at - authenticated_at > timedelta(seconds=max_age)


def _sign_in(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, visitor: Visitor, error: str = _SIGN_IN
) -> SignInNeeded:
    if "none" in request.prompts:
        _note(uow, client, request, visitor, SignInReason.INTERACTION_REQUIRED)
        raise request.refused(error, "The user has to sign in.")
    browser_key = visitor.key or uow.randomness.token()
    request_id = requests.keep(uow, client, request.asked_to_sign_in(uow.now, browser_key))
    return SignInNeeded(
        request_id=request_id,
        browser_key=browser_key,
        organization_slug=client.organization_slug,
        service_slug=client.service.slug,
        email=request.hinted_email,
        is_for_new_account="create" in request.prompts,
        locales=request.locales,
        request_key=hash_token(request_id.reveal()),
    )


def _sign_in_for_customer(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, visitor: Visitor, error: str = _SIGN_IN
) -> SignInNeeded:
    """Do what `_sign_in` does, by the connection of the customer that the request names, if it leads there."""
    needed = _sign_in(uow, client, request, visitor, error)
    return replace(needed, connection_id=questions.only_connection(uow, client, request))


def _set_up(uow: UnitOfWork, client: Client, request: AuthorizationRequest) -> SetupNeeded:
    if "none" in request.prompts:
        raise request.refused("interaction_required", "The user has to set up a second factor.")
    return SetupNeeded(
        request_id=requests.keep(uow, client, request),
        organization_slug=client.organization_slug,
        service_slug=client.service.slug,
        locales=request.locales,
    )


def _note(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, visitor: Visitor, reason: SignInReason
) -> None:
    """Record why the user of a browser was not signed in to a service; without a session the user is unknown."""
    browser = visitor.browser
    if browser is None:
        return
    destination = Destination(
        organization_slug=client.organization_slug,
        service_slug=client.service.slug,
        device_token=visitor.device_token,
        proved_for=request.customer,
    )
    note_refusal(uow, browser.user_id, UsedWay(Provider(browser.provider), browser.confinement), destination, reason)


def _use(uow: UnitOfWork, request_id: str) -> tuple[Client, AuthorizationRequest]:
    """Use up a stored request; of two answers to it one succeeds."""
    id_hash = hash_token(request_id)
    found = uow.authorization_requests.find(id_hash)
    if found is None:
        raise RequestOver
    client_id, stored = found
    client = _client(uow, client_id)
    if uow.authorization_requests.use(id_hash, stored.organization_id, stored.service_id, is_pushed=False) is None:
        raise RequestOver(client, requests.recalled(stored.parameters).locales)
    request = requests.recalled(stored.parameters)
    # The request may have waited since before the profile was turned on.
    security_profiles.require_pushed(client.security_profile, is_pushed=request.was_pushed)
    return client, request


def _arrived(uow: UnitOfWork, client_id: UUID, visitor: Visitor) -> tuple[Client, Visitor]:
    """Return a client, and the visitor with the data to judge a signed-in user by; both are read at once."""
    if visitor.browser is None:
        return _client(uow, client_id), visitor
    prepared = _prepare(uow, client_id, visitor.browser, visitor)
    return _active(clients.of_place(uow, prepared.circumstances.place())), replace(visitor, prepared=prepared)


def _prepare(uow: UnitOfWork, client_id: UUID, browser: BrowserSession, visitor: Visitor) -> PreparedVisit:
    return child_sessions.prepare_for_client(uow, browser, client_id, device_token=visitor.device_token)


def _client(uow: UnitOfWork, client_id: UUID) -> Client:
    return _active(clients.find(uow, client_id))


def _active(client: Client | None) -> Client:
    if client is None or not client.is_organization_active:
        raise RequestRefused("The application that sent you here is not known, or is not active.")
    return client


def _denied(uow: UnitOfWork, client: Client, request: AuthorizationRequest, visitor: Visitor, issuer: str) -> LeadBack:
    _note(uow, client, request, visitor, SignInReason.CONSENT_REFUSED)
    return _refusal(uow, client, request.refused("access_denied", "The user has not agreed."), issuer)


def _refusal(uow: UnitOfWork, client: Client, refused: AuthorizationRefused, issuer: str) -> LeadBack:
    """Answer with an error, which uses up a pushed request; raise `RequestOver` if that was answered already."""
    requests.use_pushed(uow, client, refused.to)
    client_troubles.note(uow, client, refused.cause)
    return _lead_back(
        refused.to, error=refused.error, error_description=refused.description, state=refused.to.state, iss=issuer
    )


def _lead_back(to: AnswerAddress, **parameters: str | None) -> LeadBack:
    if to.response_mode != FORM_POST:
        return LeadBack(locales=to.locales, address=with_parameters(to.redirect_uri, **parameters))
    posted = {name: value for name, value in parameters.items() if value is not None}
    return LeadBack(locales=to.locales, address=to.redirect_uri, posted=posted)
