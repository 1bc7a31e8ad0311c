"""Subscriptions of end users to the plans of a service; a user has at most one live subscription to a service.

Here are the subscription, its changes with their records, and what its user reads. The backend of a service changes
subscriptions in `core/service_api/subscriptions.py`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.services.plans import Plan

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SubscriptionStatus(StrEnum):
    """The state of a subscription."""

    ACTIVE = "active"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    PAST_DUE = "past_due"


# A subscription in one of these states is the one live subscription of its user to the service.
LIVE: Final = frozenset({SubscriptionStatus.ACTIVE, SubscriptionStatus.PAST_DUE})


class NoServiceContext(BadRequest):
    """The token was not issued to a service, so there is nothing to subscribe to."""

    default_message = "A subscription belongs to a service. Sign in to a service first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A subscription; `billing_subscription_id` is set when the payment provider bills it."""

    id: UUID
    organization_id: UUID
    service_id: UUID
    user_id: UUID
    plan_id: UUID
    plan_name: str
    status: SubscriptionStatus
    current_period_end: datetime | None
    created_at: datetime
    billing_subscription_id: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether this is the one live subscription of its user to the service."""
        return self.status in LIVE

    @property
    def is_billed(self) -> bool:
        """Whether the payment provider charges for it at present."""
        return self.is_live and self.billing_subscription_id is not None

    def to_plan(self, plan: Plan) -> Subscription:
        """Return the subscription to another plan of its service."""
        assert plan.service_id == self.service_id, "the plan belongs to another service"
        return replace(self, plan_id=plan.id, plan_name=plan.name)

    def changes(self, before: Subscription) -> dict[str, Any]:
        """Return the old and the new value of each changed field, in the form of an audit entry."""
        return {
            field.name: {"from": _json_value(getattr(before, field.name)), "to": _json_value(getattr(self, field.name))}
            for field in fields(self)
            if getattr(before, field.name) != getattr(self, field.name)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSubscription:
    """The caller's subscription to the service of their token."""

    service: str
    plan: str
    plan_id: UUID
    features: list[str]
    status: SubscriptionStatus
    current_period_end: datetime | None


def read_own(uow: UnitOfWork) -> OwnSubscription:
    """Return the caller's subscription, or the default plan without one.

    Raise `NoServiceContext` outside a service, and `OrganizationNotActive` while its organization is not active.
    """
    caller = uow.caller
    caller.place.require_active_organization()
    service, plan = caller.place.service_slug, caller.place.plan
    if service is None or plan is None:
        raise NoServiceContext
    return OwnSubscription(
        service=service,
        plan=plan.name,
        plan_id=plan.id,
        features=plan.features,
        status=SubscriptionStatus(plan.subscription_status),
        current_period_end=plan.current_period_end,
    )


def begin(uow: UnitOfWork, subscription: Subscription, **details: Any) -> bool:
    """Store and record a new subscription; False when its user has a live one already, also from a concurrent call."""
    if not uow.subscriptions.add(subscription):
        return False
    _record(uow, AuditAction.SUBSCRIPTION_CREATED, subscription, details)
    return True


def save(uow: UnitOfWork, before: Subscription, after: Subscription, **details: Any) -> bool:
    """Store and record the new state of a locked subscription; False when its user has another live one.

    Nothing is stored or recorded without a difference.
    """
    if after == before:
        return True
    if not uow.subscriptions.save(after, becomes_live=after.is_live and not before.is_live):
        return False
    is_cancellation = after.status is SubscriptionStatus.CANCELLED and before.status is not after.status
    action = AuditAction.SUBSCRIPTION_CANCELED if is_cancellation else AuditAction.SUBSCRIPTION_UPDATED
    _record(uow, action, after, {"changes": after.changes(before), **details})
    return True


def record_removed(uow: UnitOfWork, subscription: Subscription, **details: Any) -> None:
    """Record that a subscription was deleted, as a cancellation: deleting has no action of its own."""
    _record(uow, AuditAction.SUBSCRIPTION_CANCELED, subscription, {"deleted": True, **details})


def _record(uow: UnitOfWork, action: AuditAction, subscription: Subscription, details: dict[str, Any]) -> None:
    uow.record(
        action,
        subscription.id,
        organization_id=subscription.organization_id,
        subscription_id=str(subscription.id),
        service_id=str(subscription.service_id),
        user_id=str(subscription.user_id),
        plan_id=str(subscription.plan_id),
        plan_name=subscription.plan_name,
        status=subscription.status,
        **details,
    )


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        # RFC 3339, in UTC with `Z`, as everywhere in the interface.
        return value.isoformat().replace("+00:00", "Z")
    return str(value) if isinstance(value, UUID | StrEnum) else value
