"""The subscriptions to a service, as its backend manages them with an API key.

A live subscription that the payment provider bills is changed at the provider, not here: else the user would pay for
something else than they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, Forbidden, NotFound
from core.lazy_dataclasses import dataclass
from core.services import api_keys, subscriptions
from core.services.api_keys import Permission, ServiceCaller
from core.services.plans import Plan, PlanUnknown
from core.services.subscriptions import Subscription, SubscriptionStatus
from core.services.user_metadata import ServiceUserUnknown

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PERIOD_DEFAULT: Final = timedelta(days=30)
# A time outside of these is a mistake, and near the ends of the calendar it has no counterpart in UTC.
_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)


class SubscriptionUnknown(NotFound):
    """The user has no subscription to the service."""

    default_message = "This user has no subscription to the service."


class SubscriptionExists(Conflict):
    """The user has an active subscription to the service already."""

    default_message = "This user has an active subscription to the service already. Change it instead."


class SubscriptionBilled(Conflict):
    """The payment provider bills the subscription."""

    default_message = "This subscription is paid through the payment provider. Change or cancel it there."


class PlanOfSiblingService(Forbidden):
    """The plan belongs to another service of the organization."""

    default_message = "This plan belongs to another service."


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionsPage:
    """A page of subscriptions, and the number of those that match."""

    subscriptions: Sequence[Subscription]
    total: int


def list_page(uow: UnitOfWork, *, status: SubscriptionStatus | None, limit: int, offset: int) -> SubscriptionsPage:
    """List the subscriptions to the service, the newest first, optionally of one status."""
    caller = api_keys.authorize(uow, Permission.READ_SUBSCRIPTIONS)
    return uow.elsewhere.service_subscriptions.page(caller, status=status, limit=limit, offset=offset)


def show(uow: UnitOfWork, known_id: UUID) -> Subscription:
    """Return a user's subscription: the active one, else the newest; raise `SubscriptionUnknown` without one."""
    caller = api_keys.authorize(uow, Permission.READ_SUBSCRIPTIONS)
    subscription = uow.service_subscriptions.current(caller, known_id)
    if subscription is None:
        raise SubscriptionUnknown
    return subscription


def create(
    uow: UnitOfWork,
    *,
    known_id: UUID,
    plan_id: UUID,
    status: SubscriptionStatus,
    current_period_end: datetime | None,
) -> Subscription:
    """Subscribe a user of the service to one of its plans; raise `SubscriptionExists` beside an active one."""
    caller = api_keys.authorize(uow, Permission.WRITE_SUBSCRIPTIONS)
    period_end = _checked(current_period_end) if current_period_end is not None else uow.now + PERIOD_DEFAULT
    # Held, so that the user is not removed from the service meanwhile.
    user_id = uow.service_users.hold(caller, known_id)
    if user_id is None:
        raise ServiceUserUnknown
    shown = _deferred_shown(uow, caller, user_id)
    plan = find_plan(uow, caller, plan_id)
    existing = uow.subscriptions.lock_current(caller.organization_id, caller.service_id, user_id)
    if existing is not None and existing.is_live:
        raise SubscriptionExists
    subscription = Subscription(
        id=uow.randomness.new_id(),
        organization_id=caller.organization_id,
        service_id=caller.service_id,
        user_id=user_id,
        plan_id=plan.id,
        plan_name=plan.name,
        status=status,
        current_period_end=period_end,
        created_at=uow.now,
    )
    if not subscriptions.begin(uow, subscription):
        raise SubscriptionExists
    return shown(subscription)


def change(
    uow: UnitOfWork,
    known_id: UUID,
    *,
    status: SubscriptionStatus | None,
    current_period_end: datetime | None,
    plan_id: UUID | None,
) -> Subscription:
    """Change the named fields of a user's subscription: of the active one, else of the newest."""
    caller = api_keys.authorize(uow, Permission.WRITE_SUBSCRIPTIONS)
    period_end = _checked(current_period_end) if current_period_end is not None else None
    before = _lock(uow, caller, known_id)
    shown = _deferred_shown(uow, caller, before.user_id)
    after = replace(
        before,
        status=status or before.status,
        current_period_end=period_end or before.current_period_end,
    )
    if plan_id is not None:
        after = after.to_plan(find_plan(uow, caller, plan_id))
    if after != before and before.is_billed:
        raise SubscriptionBilled
    if not subscriptions.save(uow, before, after):
        raise SubscriptionExists
    return shown(after)


def delete(uow: UnitOfWork, known_id: UUID) -> None:
    """Delete a user's subscriptions to the service, also those that have ended."""
    caller = api_keys.authorize(uow, Permission.DELETE_SUBSCRIPTIONS)
    subscription = _lock(uow, caller, known_id)
    if subscription.is_billed:
        raise SubscriptionBilled
    uow.service_subscriptions.remove_of_user(caller, subscription.user_id)
    subscriptions.record_removed(uow, subscription)


def _deferred_shown(uow: UnitOfWork, caller: ServiceCaller, user_id: UUID) -> Callable[[Subscription], Subscription]:
    """Return a function that gives a subscription the id by which the organization knows its user."""
    known_id = uow.known_ids.defer_shown(caller.organization_id, user_id)
    return lambda subscription: replace(subscription, user_id=known_id())


def _lock(uow: UnitOfWork, caller: ServiceCaller, known_id: UUID) -> Subscription:
    subscription = uow.service_subscriptions.lock_current(caller, known_id)
    if subscription is None:
        raise SubscriptionUnknown
    return subscription


def find_plan(uow: UnitOfWork, caller: ServiceCaller, plan_id: UUID) -> Plan:
    """Return a plan of the service; raise `PlanUnknown`, and `PlanOfSiblingService` for one of another service."""
    plan = uow.plans.find_in_organization(caller.organization_id, plan_id)
    if plan is None:
        raise PlanUnknown
    if plan.service_id != caller.service_id:
        raise PlanOfSiblingService
    return plan


def _checked(period_end: datetime) -> datetime:
    if not _EARLIEST <= period_end <= _LATEST:
        raise BadRequest.of_field("current_period_end", "This must be a time between the years 1970 and 9999.")
    return period_end.astimezone(UTC)
