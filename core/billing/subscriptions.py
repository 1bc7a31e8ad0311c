"""Bought subscriptions: from the provider's events to the subscription that tokens and services see.

A subscription of the provider is parked until an event says for which organization, service and user it was bought, and
its customer belongs to that organization. From then on every event settles it: the state of its history
(`histories.py`) is written to the user's subscription. An event that contradicts the binding is refused and changes
nothing. A second live subscription of a user to a service is a conflict, and takes effect when the first one ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from core.billing import notices
from core.billing.histories import HISTORICAL, HistoryEntry, State, state_of
from core.billing.provider import Facts, SubscriptionBinding
from core.billing.provider_customers import BillingCustomer
from core.billing.provider_events import Effect
from core.lazy_dataclasses import dataclass
from core.services import subscriptions as service_subscriptions
from core.services.plans import Plan
from core.services.subscriptions import LIVE, Subscription

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The provider is asked so long after the end of a period, so often from then on, and after so long a silence.
PERIOD_GRACE: Final = timedelta(hours=1)
OVERDUE_PERIOD: Final = timedelta(days=1)
CONFLICT_PERIOD: Final = timedelta(days=1)
SILENCE_MAX: Final = timedelta(days=7)
# A check is postponed by at least this, which saves a write for most events.
CHECK_DELAY_MIN: Final = timedelta(days=1)


class SubscriptionOutcome(StrEnum):
    """What became of a subscription of the provider."""

    PARKED = "parked"
    APPLIED = "applied"
    CONFLICT = "conflict"


class Source(StrEnum):
    """What caused a change, for the audit log."""

    EVENT = "billing_event"
    RECONCILIATION = "billing_reconciliation"


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingSubscription:
    """A subscription of the provider, as billing knows it; `binding` is None until an event has named its purpose."""

    id: str
    customer_id: str | None
    binding: SubscriptionBinding | None
    outcome: SubscriptionOutcome
    read: Facts | None
    read_as_of: datetime | None
    check_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntry:
    """An event of the history, or an event for which a mail is due, with the customer that it names."""

    entry: HistoryEntry
    customer_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The result of settling: the outcome, and the events that were refused."""

    outcome: SubscriptionOutcome
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is stored about a locked subscription; `plans` has plans by the prices that its events name."""

    subscription: BillingSubscription
    history: Sequence[StoredEntry]
    plans: Mapping[str, Plan]
    current: Subscription | None


def settle(
    uow: UnitOfWork, known: Known, source: Source = Source.EVENT, *, invoice_url: str | None = None
) -> Settlement:
    """Bring the user's subscription in line with the stored events.

    At `invoice_url` the buyer completes the payment that the present event requires.
    """
    subscription = known.subscription
    refused: list[str] = []
    if subscription.binding is None:
        subscription = _bind(uow, subscription, known, refused)
    binding = subscription.binding
    if binding is None or subscription.customer_id is None:
        return Settlement(outcome=SubscriptionOutcome.PARKED, refused=_refuse(uow, refused))
    customer = uow.billing_customers.held(subscription.customer_id)
    entries = _accepted(subscription, binding, known, refused)
    state = state_of(
        [entry for entry in entries if entry.effect in HISTORICAL],
        is_customer_deleted=customer is not None and customer.deleted_at is not None,
    )
    if state is not None:
        subscription = _write(uow, subscription, binding, state, known, source)
    subscription = replace(subscription, check_at=_next_check(state, subscription.outcome, at=uow.now))
    if _is_worth_saving(known.subscription, subscription):
        uow.billing_subscriptions.save(subscription)
    notices.send(uow, entries, binding, invoice_url=invoice_url)
    return Settlement(outcome=subscription.outcome, refused=_refuse(uow, refused))


def settle_all_of(uow: UnitOfWork, customer_id: str) -> tuple[str, ...]:
    """Settle every subscription of a customer that was bound or deleted; return the events that were refused."""
    refused: list[str] = []
    for subscription_id in uow.billing_subscriptions.of_customer(customer_id):
        refused += settle(uow, lock(uow, subscription_id)).refused
    return tuple(refused)


def lock(uow: UnitOfWork, subscription_id: str) -> Known:
    """Lock a subscription, and return what is stored about it."""
    return uow.billing_subscriptions.defer_known(subscription_id, None)()


def _bind(uow: UnitOfWork, subscription: BillingSubscription, known: Known, refused: list[str]) -> BillingSubscription:
    """Return the subscription bound by the first event that names its purpose, if its customer is known.

    One that the provider was asked to end stays parked, because its service or user is gone.
    """
    if uow.billing_cancellations.has(subscription.id):
        return subscription
    for stored in sorted(known.history, key=lambda stored: (stored.entry.occurred_at, stored.entry.event_id)):
        binding = stored.entry.facts.binding
        customer = uow.billing_customers.held(stored.customer_id) if stored.customer_id is not None else None
        if binding is None or customer is None or customer.organization_id is None:
            continue
        if _fits(uow, stored.entry, binding, customer, known):
            return replace(subscription, binding=binding, customer_id=customer.id)
        refused.append(stored.entry.event_id)
        if (
            customer.may_buy(binding)
            and not stored.entry.is_final
            and uow.billing_subscriptions.is_undeliverable(binding)
        ):
            # The checkout page was open while the service or the account was deleted, and was paid after that.
            uow.billing_cancellations.add(subscription.id, customer.mode)
    return subscription


def _fits(
    uow: UnitOfWork, entry: HistoryEntry, binding: SubscriptionBinding, customer: BillingCustomer, known: Known
) -> bool:
    return (
        customer.may_buy(binding)
        and _has_own_price(entry, binding, known)
        and uow.billing_subscriptions.is_purchasable(binding)
    )


def _accepted(
    subscription: BillingSubscription, binding: SubscriptionBinding, known: Known, refused: list[str]
) -> list[HistoryEntry]:
    """Return the entries that agree with the binding, with the last reading from the provider; note the others."""
    accepted: list[HistoryEntry] = []
    for stored in known.history:
        entry = stored.entry
        if entry.event_id in refused:
            continue
        is_own_customer = stored.customer_id in {None, subscription.customer_id}
        is_same = entry.facts.binding is None or _is_same_purchase(entry.facts.binding, binding)
        if is_own_customer and is_same and _has_own_price(entry, binding, known):
            accepted.append(entry)
        else:
            refused.append(entry.event_id)
    if subscription.read is not None and subscription.read_as_of is not None:
        accepted.append(
            HistoryEntry(
                event_id="",
                occurred_at=subscription.read_as_of,
                effect=Effect.SNAPSHOT,
                facts=subscription.read,
                is_read=True,
            )
        )
    return accepted


def _is_same_purchase(one: SubscriptionBinding, other: SubscriptionBinding) -> bool:
    # The plan is not compared: a buyer changes it in the portal, and the price names the present one.
    return (one.organization_id, one.service_id, one.user_id) == (
        other.organization_id,
        other.service_id,
        other.user_id,
    )


def _has_own_price(entry: HistoryEntry, binding: SubscriptionBinding, known: Known) -> bool:
    plan = known.plans.get(entry.facts.price_id or "")
    return plan is None or plan.service_id == binding.service_id


def _plan_of(uow: UnitOfWork, state: State, binding: SubscriptionBinding, known: Known) -> Plan | None:
    """Return the plan of the present price, else the bought plan; None when that was deleted."""
    plan = known.plans.get(state.price_id or "")
    if plan is not None and plan.service_id == binding.service_id:
        return plan
    return uow.plans.find(binding.organization_id, binding.service_id, binding.plan_id)


def _refuse(uow: UnitOfWork, event_ids: Sequence[str]) -> tuple[str, ...]:
    if event_ids:
        uow.billing_events.refuse(event_ids)
    return tuple(event_ids)


def _write(
    uow: UnitOfWork,
    subscription: BillingSubscription,
    binding: SubscriptionBinding,
    state: State,
    known: Known,
    source: Source,
) -> BillingSubscription:
    """Write the state to the user's subscription; begin one if there is none."""
    plan, current = _plan_of(uow, state, binding, known), known.current
    details = {"billing_subscription_id": subscription.id, "source": source.value}
    if current is None:
        is_over = subscription.outcome is SubscriptionOutcome.CONFLICT and state.status not in LIVE
        if plan is None or is_over:
            return subscription
        has_begun = not _has_live(uow, binding) and service_subscriptions.begin(
            uow, _new(uow, subscription, binding, plan, state), **details
        )
        return replace(subscription, outcome=SubscriptionOutcome.APPLIED if has_begun else SubscriptionOutcome.CONFLICT)
    changed = replace(
        current.to_plan(plan) if plan is not None else current,
        status=state.status,
        current_period_end=state.period_end,
    )
    if not service_subscriptions.save(uow, current, changed, **details):
        return replace(subscription, outcome=SubscriptionOutcome.CONFLICT)
    if current.is_live and not changed.is_live:
        _promote(uow, binding)
    return replace(subscription, outcome=SubscriptionOutcome.APPLIED)


def _has_live(uow: UnitOfWork, binding: SubscriptionBinding) -> bool:
    """Return whether the user has a live subscription, after any concurrent change of it.

    Its end then waits for this transaction, and settles the subscription that has become a conflict.
    """
    current = uow.subscriptions.lock_current(binding.organization_id, binding.service_id, binding.user_id)
    return current is not None and current.is_live


def _new(
    uow: UnitOfWork, subscription: BillingSubscription, binding: SubscriptionBinding, plan: Plan, state: State
) -> Subscription:
    return Subscription(
        id=uow.randomness.new_id(),
        organization_id=binding.organization_id,
        service_id=binding.service_id,
        user_id=binding.user_id,
        plan_id=plan.id,
        plan_name=plan.name,
        status=state.status,
        current_period_end=state.period_end,
        created_at=uow.now,
        billing_subscription_id=subscription.id,
    )


def _promote(uow: UnitOfWork, binding: SubscriptionBinding) -> None:
    """Settle the subscriptions that waited for the end of this one."""
    for subscription_id in uow.billing_subscriptions.conflicts(binding):
        settle(uow, lock(uow, subscription_id))


def _is_worth_saving(before: BillingSubscription, after: BillingSubscription) -> bool:
    """Return whether more has changed than the time of the next check, which may also be a little earlier."""
    if before.check_at is None or after.check_at is None:
        return before != after
    is_about_the_same = timedelta() <= after.check_at - before.check_at < CHECK_DELAY_MIN
    return not is_about_the_same or replace(before, check_at=after.check_at) != after


def _next_check(state: State | None, outcome: SubscriptionOutcome, *, at: datetime) -> datetime | None:
    """Return when to ask the provider for the subscription; None when nothing can change it any more."""
    if state is not None and state.is_ambiguous:
        return at
    if state is None or state.status not in LIVE:
        return None
    if outcome is SubscriptionOutcome.CONFLICT:
        # The other subscription may end without an event.
        return at + CONFLICT_PERIOD
    if state.period_end is None:
        return at + SILENCE_MAX
    is_over = state.period_end <= at
    return at + OVERDUE_PERIOD if is_over else min(at + SILENCE_MAX, state.period_end + PERIOD_GRACE)
