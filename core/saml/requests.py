"""Requests for a sign-in that wait for their answer: each is taken once, answered once, in the browser that brought it.

A request waits under its state, `saml_state`, while its user signs in. A cookie, which comes with the first request,
identifies the browser. A sign-in outside our pages that knows the state makes a ticket for that browser. The latest
requests are shown to the people who set a service provider up.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.saml import identity_providers, message_checks
from core.saml.identity_providers import SamlProvider
from core.saml.messages import AuthnRequest, MessageRefused, StatusOf
from core.secrets import Secret, hash_token
from core.sign_in.proofs import Destination, Target

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

# Longer than the maximum age of a message, so that a used one is refused as long as it is fresh.
LIFETIME: Final = timedelta(minutes=15)
TICKET_LIFETIME: Final = timedelta(seconds=60)


class SignInStateUnknown(BadRequest):
    """The state is unknown, expired or answered, or belongs to another browser."""

    default_message = (
        "This sign-in is over. It has expired or was completed already, or it began in another browser. Go back to the"
        " application and start again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a request for its answer; `refusal` is set when the configuration cannot meet them."""

    force_authn: bool
    is_passive: bool
    subject: str | None
    context_classes: tuple[str, ...]
    comparison: str
    refusal: StatusOf | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRequest:
    """A request that waits for its answer; `message_id` is its own id.

    `customer` is the id or slug of the customer in its address: empty to come without one, None without the parameter.
    """

    id: UUID
    organization_id: UUID
    service_id: UUID
    message_id: str
    relay_state: str | None
    customer: str | None
    terms: Terms
    created_at: datetime
    expires_at: datetime

    @property
    def key(self) -> bytes:
        """The name under which a sign-in on our pages is recorded for this request."""
        return self.id.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenRequest:
    """A pending request, its state, and the key of the browser that brought it.

    `is_new` is deferred; `require_new` checks it.
    """

    pending: PendingRequest
    state: Secret
    browser_key: Secret
    is_new: Deferred[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """A pending request with the identity provider that answers it."""

    provider: SamlProvider
    pending: PendingRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """A request, with what came beside it: the key of its browser, if it has one, and the customer in the address."""

    request: AuthnRequest
    relay_state: str | None
    browser_key: Secret | None
    base_url: str
    customer: str | None = None


def take(uow: UnitOfWork, provider: SamlProvider, sent: SentRequest) -> TakenRequest:
    """Keep a request until it is answered; raise `MessageRefused` when it cannot be answered, or was taken before."""
    taken = defer_taking(uow, provider, sent)
    require_new(taken)
    return taken


def defer_taking(uow: UnitOfWork, provider: SamlProvider, sent: SentRequest) -> TakenRequest:
    """Defer keeping a request; raise `MessageRefused` when it cannot be answered.

    Call `require_new` before anything is done for it.
    """
    request, customer = sent.request, sent.customer
    sent_to = message_checks.without_customer(request, customer) if provider.serves_customers else request
    message_checks.require_acceptable(sent_to, provider, provider.sso_url(sent.base_url), uow.now)
    message_checks.require_answerable(request, provider)
    pending = PendingRequest(
        id=uow.randomness.new_id(),
        organization_id=provider.organization_id,
        service_id=provider.service_id,
        message_id=request.id,
        relay_state=sent.relay_state,
        customer=customer if provider.serves_customers else None,
        terms=Terms(
            force_authn=request.force_authn,
            is_passive=request.is_passive,
            subject=request.subject,
            context_classes=request.context_classes,
            comparison=request.comparison,
            refusal=message_checks.unsupported(request, provider),
        ),
        created_at=uow.now,
        expires_at=uow.now + LIFETIME,
    )
    state, browser_key = uow.randomness.token(), sent.browser_key or uow.randomness.token()
    is_new = uow.saml_requests.add(
        pending, state_hash=hash_token(state.reveal()), browser_hash=hash_token(browser_key.reveal())
    )
    record_request(uow, provider)
    return TakenRequest(pending=pending, state=state, browser_key=browser_key, is_new=is_new)


def require_new(taken: TakenRequest) -> None:
    """Raise `MessageRefused` when a request was taken before."""
    if not taken.is_new():
        raise MessageRefused("It was used before.")


def find(
    uow: UnitOfWork, organization_slug: str, service_slug: str, state: str, browser_key: Secret | None
) -> OpenRequest:
    """Return the request that waits under a state in this browser; raise `SignInStateUnknown`."""
    provider = identity_providers.find(uow, organization_slug, service_slug)
    pending = None
    if browser_key is not None:
        pending = uow.saml_requests.find(
            provider,
            state_hash=hash_token(state),
            browser_hash=hash_token(browser_key.reveal()),
            at=uow.now,
        )
    if pending is None:
        raise SignInStateUnknown
    return OpenRequest(provider=provider, pending=pending)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """Answers a request with the session of a sign-in elsewhere: valid once, in the browser of the request."""

    path: str
    value: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTarget:
    """The destination of a request that waits, and the customer that it names."""

    target: Target
    organization_slug: str
    service_slug: str
    customer: str | None


def require_open(uow: UnitOfWork, state: str, wanted: Destination) -> Destination:
    """Return the destination of a sign-in for the request that waits under a state.

    A sign-in at the service of the request that names no customer is for the customer of the request. Raise
    `BadRequest` for the field of a sign-in when no request waits.
    """
    found = uow.saml_requests.open_target(hash_token(state), at=uow.now)
    if found is None:
        raise BadRequest.of_field(
            "saml_state", "This sign-in at the application has expired. Start again at the application."
        )
    wanted = replace(wanted, target=found.target)
    is_at_service = (wanted.organization_slug, wanted.service_slug) == (found.organization_slug, found.service_slug)
    if found.customer is None or wanted.customer is not None or not is_at_service:
        return wanted
    # Anyone may have sent the user with this customer, so the user is asked.
    return replace(wanted, customer=found.customer, asks_for_customer=True)


def open_target(uow: UnitOfWork, state: str) -> Target | None:
    """Return the destination of the request that waits under a state; None when none waits."""
    found = uow.saml_requests.open_target(hash_token(state), at=uow.now)
    return found.target if found is not None else None


def make_ticket(uow: UnitOfWork, state: str, session_id: UUID) -> Ticket | None:
    """Let a session answer the request that waits under a state; an earlier ticket becomes void.

    Return None when the request is answered or expired.
    """
    value = uow.randomness.token()
    slugs = uow.saml_requests.put_ticket(
        hash_token(state),
        ticket_hash=hash_token(value.reveal()),
        session_id=session_id,
        at=uow.now,
        expires_at=uow.now + TICKET_LIFETIME,
    )
    if slugs is None:
        return None
    organization_slug, service_slug = slugs
    return Ticket(path=f"/saml/{organization_slug}/{service_slug}/authenticate", value=value)


def renew_ticket(uow: UnitOfWork, pending: PendingRequest, session_id: UUID) -> Secret:
    """Replace a used ticket, so that its session answers the request once the user has answered a question.

    The page with the question may be open as long as the request waits.
    """
    value = uow.randomness.token()
    uow.saml_requests.renew_ticket(
        pending, ticket_hash=hash_token(value.reveal()), session_id=session_id, expires_at=pending.expires_at
    )
    return value


def use_ticket(uow: UnitOfWork, pending: PendingRequest, ticket: str) -> tuple[UUID, UUID]:
    """Use a ticket up and return its session and user; raise `SignInStateUnknown` for a used, expired or wrong one."""
    found = uow.saml_requests.use_ticket(pending.id, hash_token(ticket), at=uow.now)
    if found is None:
        raise SignInStateUnknown
    return found


# Strangers can send refused messages too, so one in this time is kept.
ERROR_KEPT_EVERY: Final = timedelta(seconds=1)
# The precision of the time of the last request; more often would make the configuration of a service a busy row.
REQUEST_KEPT_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastContact:
    """When the service provider last sent an acceptable request, and the last one that was refused."""

    last_request_at: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None


def record_request(uow: UnitOfWork, provider: SamlProvider) -> None:
    """Record that a request of the service provider was accepted."""
    uow.saml_configurations.record_request(provider, at=uow.now, unless_since=uow.now - REQUEST_KEPT_EVERY)


def record_refusal(uow: UnitOfWork, provider: SamlProvider, refused: MessageRefused) -> None:
    """Record why a request to the identity provider of a service was refused."""
    uow.saml_configurations.record_error(provider, refused.problem, at=uow.now, unless_since=uow.now - ERROR_KEPT_EVERY)
