"""The embedded sandbox provider: customers, checkout and portal pages, and subscriptions for trying things out.

It stands in for the payment provider while no key is set, in development mode or where the operator has turned it on:
no money moves. It sends signed events to the receiver, as the provider does; `sandbox_events.py` has their content. An
operator or the portal page makes a subscription renew, fail, recover or end, and has the events sent late or twice.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.billing import sandbox_events
from core.billing.provider import CheckoutOrder, CheckoutSession, Facts, ReadSubscription, subscription_facts
from core.billing.provider_customers import CustomerCreation
from core.billing.sandbox_events import (
    ACTION_REQUIRED,
    CREATED,
    DELETED,
    PAID,
    PAYMENT_FAILED,
    UPDATED,
    SandboxCustomer,
    SandboxEvent,
    SandboxSession,
    SandboxSubscription,
    SessionKind,
)
from core.errors import BadRequest, NotFound
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PERIOD: Final = timedelta(days=30)
SESSION_LIFETIME: Final = timedelta(hours=24)
LATE_MAX: Final = timedelta(days=3)
# A delivery without an answer is repeated after this, doubled each time, and given up after so many attempts.
RETRY_MIN: Final = timedelta(seconds=5)
ATTEMPTS_MAX: Final = 12
LEASE: Final = timedelta(minutes=1)
_ID_ALPHABET: Final = string.ascii_letters + string.digits
_ID_CHARACTERS: Final = 24
# The secret for the sandbox's events is derived from the pepper for this purpose, so it is stored nowhere.
SIGNING_PURPOSE: Final = "billing sandbox signatures"


class SandboxPageUnknown(NotFound):
    """No page of the sandbox has this address, or it has expired."""

    default_message = "This page does not exist or has expired. Start again where you came from."


class SandboxSubscriptionUnknown(NotFound):
    """The sandbox has no such subscription."""

    default_message = "The sandbox has no such subscription. `gatehouse billing list` lists them."


class SandboxActionImpossible(BadRequest):
    """The subscription has ended, so nothing can happen to it."""

    default_message = "This subscription has ended, so nothing can happen to it any more. Buy a plan again."


class SandboxAction(StrEnum):
    """An action on a subscription of the sandbox."""

    RENEW = "renew"
    FAIL = "fail"
    RECOVER = "recover"
    AUTHENTICATE = "authenticate"
    CANCEL = "cancel"


# The status after each action, None for an unchanged one, and the events that it sends, in their order.
_ACTIONS: Final[Mapping[SandboxAction, tuple[str | None, Sequence[str]]]] = {
    SandboxAction.RENEW: ("active", (UPDATED, PAID)),
    SandboxAction.FAIL: ("past_due", (PAYMENT_FAILED, UPDATED)),
    SandboxAction.RECOVER: ("active", (PAID, UPDATED)),
    SandboxAction.AUTHENTICATE: (None, (ACTION_REQUIRED,)),
    SandboxAction.CANCEL: ("canceled", (DELETED,)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """How events are sent: how late, and whether twice."""

    late: timedelta = timedelta()
    is_twice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxDelivery:
    """An event on its way to the receiver."""

    id: UUID
    body: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalView:
    """What the portal page shows."""

    session: SandboxSession
    subscriptions: Sequence[SandboxSubscription]


PROMPTLY: Final = Posting()


def create_customer(uow: UnitOfWork, creation: CustomerCreation) -> str:
    """Make a customer; the same key always returns the same one."""
    customer = SandboxCustomer(
        id=_new_id(uow, "cus"),
        organization_id=creation.organization_id,
        # The sandbox keeps no data of persons.
        name=creation.name if creation.user_id is None else "End user",
        default_payment_method=None,
        created_at=uow.now,
        service_id=creation.service_id,
        user_id=creation.user_id,
    )
    kept = uow.sandbox.add_customer(customer, creation.idempotency_key)
    if kept.id == customer.id:
        _post(uow, customer.id, [sandbox_events.customer_created(customer)])
    return kept.id


def open_checkout(uow: UnitOfWork, order: CheckoutOrder, *, base_url: str, key: str) -> CheckoutSession:
    """Make a checkout page; the same key always returns the same one."""
    session = uow.sandbox.add_session(
        SandboxSession(
            id=_new_capability(uow, "cs"),
            kind=SessionKind.CHECKOUT,
            customer_id=order.customer_id,
            price_id=order.price_id,
            price_cents=order.price_cents,
            currency=order.currency,
            service_name=order.service_name,
            plan_name=order.plan_name,
            metadata=order.metadata,
            success_url=order.success_url,
            return_url=order.cancel_url,
            expires_at=uow.now + SESSION_LIFETIME,
            created_at=uow.now,
        ),
        key,
    )
    return CheckoutSession(checkout_url=f"{base_url}/sandbox/checkout/{session.id}", session_id=session.id)


def open_portal(uow: UnitOfWork, customer_id: str, return_url: str, *, base_url: str) -> str:
    """Make a portal page and return its address."""
    session = SandboxSession(
        id=_new_capability(uow, "bps"),
        kind=SessionKind.PORTAL,
        customer_id=customer_id,
        metadata={},
        return_url=return_url,
        expires_at=uow.now + SESSION_LIFETIME,
        created_at=uow.now,
    )
    uow.sandbox.add_session(session, None)
    return f"{base_url}/sandbox/portal/{session.id}"


def read_subscription(uow: UnitOfWork, subscription_id: str) -> ReadSubscription | None:
    """Return the present state of a subscription; None when the sandbox has no such one."""
    found = uow.sandbox.subscription(subscription_id)
    if found is None:
        return None
    facts: Facts = subscription_facts(sandbox_events.subscription_object(found))
    return ReadSubscription(customer_id=found.customer_id, facts=facts, as_of=uow.now.replace(microsecond=0))


def cancel(uow: UnitOfWork, subscription_id: str) -> None:
    """End a subscription at once; nothing happens for one that has ended or is unknown."""
    subscription = uow.sandbox.lock_subscription(subscription_id)
    if subscription is not None and not subscription.has_ended:
        _act(uow, subscription, SandboxAction.CANCEL, PROMPTLY)


def show_checkout(uow: UnitOfWork, session_id: str) -> SandboxSession:
    """Return a checkout page; raise `SandboxPageUnknown`."""
    return _session(uow, session_id, SessionKind.CHECKOUT)


def show_portal(uow: UnitOfWork, session_id: str) -> PortalView:
    """Return a portal page; raise `SandboxPageUnknown`."""
    session = _session(uow, session_id, SessionKind.PORTAL)
    return PortalView(session=session, subscriptions=uow.sandbox.subscriptions_of(session.customer_id))


def pay(uow: UnitOfWork, session_id: str) -> SandboxSession:
    """Pay a checkout: a subscription begins and its events are sent. Paying again changes nothing."""
    session = _session(uow, session_id, SessionKind.CHECKOUT, is_locked=True)
    if not session.is_open:
        return session
    assert session.price_id is not None, "a checkout has no price"
    subscription = SandboxSubscription(
        id=_new_id(uow, "sub"),
        customer_id=session.customer_id,
        price_id=session.price_id,
        price_cents=session.price_cents or 0,
        currency=session.currency or "",
        description=f"{session.service_name}: {session.plan_name}",
        status="active",
        metadata=session.metadata,
        current_period_start=uow.now,
        current_period_end=uow.now + PERIOD,
        created_at=uow.now,
    )
    method_id = _new_id(uow, "pm")
    uow.sandbox.begin(subscription, session.id, method_id)
    _post(
        uow,
        session.customer_id,
        [
            sandbox_events.payment_method_attached(session.customer_id, method_id, at=uow.now),
            sandbox_events.about(subscription, CREATED, at=uow.now),
            sandbox_events.about(subscription, PAID, at=uow.now),
            sandbox_events.checkout_completed(session, subscription.id, at=uow.now),
        ],
    )
    return replace(session, subscription_id=subscription.id)


def act_in_portal(
    uow: UnitOfWork, session_id: str, subscription_id: str, action: SandboxAction, posting: Posting
) -> SandboxSession:
    """Apply an action to a subscription of the portal's customer."""
    session = _session(uow, session_id, SessionKind.PORTAL)
    subscription = uow.sandbox.lock_subscription(subscription_id)
    if subscription is None or subscription.customer_id != session.customer_id:
        raise SandboxSubscriptionUnknown
    _act(uow, subscription, action, posting)
    return session


def act(uow: UnitOfWork, subscription_id: str, action: SandboxAction, posting: Posting) -> SandboxSubscription:
    """Apply an action to a subscription, for an operator; return its new state."""
    subscription = uow.sandbox.lock_subscription(subscription_id)
    if subscription is None:
        raise SandboxSubscriptionUnknown
    return _act(uow, subscription, action, posting)


def list_subscriptions(uow: UnitOfWork, limit: int) -> Sequence[SandboxSubscription]:
    """List the newest subscriptions of the sandbox."""
    return uow.sandbox.subscriptions(limit)


def claim_deliveries(uow: UnitOfWork, limit: int) -> Sequence[SandboxDelivery]:
    """Claim due events, the oldest first; an unconfirmed one is due again after a while."""
    return uow.sandbox.claim_deliveries(now=uow.now, leased_until=uow.now + LEASE, limit=limit)


def record_delivered(uow: UnitOfWork, delivery: SandboxDelivery) -> None:
    """Forget an event that the receiver has accepted, or has refused too often."""
    uow.sandbox.end_delivery(delivery.id)


def record_refused(uow: UnitOfWork, delivery: SandboxDelivery) -> None:
    """Send an event again later, or give it up."""
    if delivery.attempts >= ATTEMPTS_MAX:
        uow.sandbox.end_delivery(delivery.id)
    else:
        uow.sandbox.postpone_delivery(delivery.id, until=uow.now + RETRY_MIN * 2 ** (delivery.attempts - 1))


def _act(
    uow: UnitOfWork, subscription: SandboxSubscription, action: SandboxAction, posting: Posting
) -> SandboxSubscription:
    if subscription.has_ended:
        raise SandboxActionImpossible
    status, event_types = _ACTIONS[action]
    changed = replace(subscription, status=status or subscription.status)
    if action is SandboxAction.RENEW:
        begin = subscription.current_period_end
        changed = replace(changed, current_period_start=begin, current_period_end=begin + PERIOD)
    uow.sandbox.save_subscription(changed)
    events = [sandbox_events.about(changed, event_type, at=uow.now) for event_type in event_types]
    _post(uow, subscription.customer_id, events, posting)
    return changed


def _session(uow: UnitOfWork, session_id: str, kind: SessionKind, *, is_locked: bool = False) -> SandboxSession:
    session = uow.sandbox.session(session_id, kind, at=uow.now, is_locked=is_locked)
    if session is None:
        raise SandboxPageUnknown
    return session


def _post(uow: UnitOfWork, customer_id: str, events: Sequence[SandboxEvent], posting: Posting = PROMPTLY) -> None:
    for event in events:
        body = sandbox_events.encode(event, event_id=_new_id(uow, "evt"))
        for _ in range(2 if posting.is_twice else 1):
            uow.sandbox.add_delivery(
                uow.randomness.new_id(), customer_id, body, due_at=uow.now + posting.late, at=uow.now
            )


def _new_id(uow: UnitOfWork, kind: str) -> str:
    return f"{kind}_sandbox_{uow.randomness.choice(_ID_ALPHABET, _ID_CHARACTERS)}"


def _new_capability(uow: UnitOfWork, kind: str) -> str:
    """Return the id of a page; the id alone opens the page."""
    return f"{kind}_sandbox_{uow.randomness.token().reveal()}"
