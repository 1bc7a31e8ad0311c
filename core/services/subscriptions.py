"""Subscriptions of end users to the plans of a service; a user has at most one live subscription to a service.

Here are the subscription, its changes with their records, what its user reads, and what the console of an organization
finds and changes of the ones that it has sold. The backend of a service changes subscriptions with an API key in
`core/service_api/subscriptions.py`. A subscription that the payment provider bills is changed at the provider, not
here: else the user would pay for something else than they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.email_addresses import part_of_email
from core.errors import BadRequest, Conflict, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.organizations import Organization
from core.positions import Listing, Position
from core.services.plans import Plan
from core.text import checked_note

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


class ListedSubscriptionUnknown(NotFound):
    """The organization has sold no such subscription."""

    default_message = "There is no such subscription. Go back to the list, and choose another one."


class SubscriptionChangedSince(Conflict):
    """The subscription is not as the page had shown it."""

    default_message = (
        "This subscription has changed meanwhile. Look at it again, and repeat the change if it still fits."
    )


class PaidElsewhere(Conflict):
    """The payment provider bills the subscription."""

    default_message = (
        "The payment provider bills this subscription. Change or cancel it there; it is changed here at once."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSubscription:
    """A subscription in the console; `email` is None for a former user, and where the reader sees no end users."""

    id: UUID
    service_id: UUID
    service_name: str
    service_slug: str
    user_id: UUID
    email: str | None
    plan_id: UUID
    plan_name: str
    price_cents: int
    currency: str
    status: SubscriptionStatus
    current_period_end: datetime | None
    created_at: datetime
    is_billed: bool

    @property
    def position(self) -> Position:
        """The place of the subscription in the list."""
        return Position(at=self.created_at, id=self.id)

    @property
    def is_live(self) -> bool:
        """Whether it is in force."""
        return self.status in LIVE

    @property
    def version(self) -> str:
        """The state that a form carries."""
        return f"{self.plan_id} {self.status}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionFilter:
    """The wanted subscriptions; an empty value or None filters nothing. `part` is a part of the address."""

    part: str = ""
    statuses: frozenset[SubscriptionStatus] = frozenset()
    service_slug: str = ""
    plan_id: UUID | None = None


def found(uow: UnitOfWork, slug: str, wanted: SubscriptionFilter) -> Listing[ListedSubscription]:
    """Find subscriptions that an organization has sold, the newest first."""
    authorized = authorize(uow, slug, Operation.BILLING_READ)
    wanted, organization_id = _checked(uow, authorized, wanted), authorized.organization.id

    def page(**part: Any) -> Sequence[ListedSubscription]:
        return _told(authorized, uow.elsewhere.found_subscriptions.page(organization_id, wanted, **part))

    return Listing(page, partial(uow.elsewhere.found_subscriptions.count, organization_id, wanted))


def show(uow: UnitOfWork, slug: str, subscription_id: UUID) -> tuple[ListedSubscription, Sequence[Plan]]:
    """Return a subscription and the plans of its service; raise `ListedSubscriptionUnknown`."""
    authorized = authorize(uow, slug, Operation.BILLING_READ)
    organization_id = authorized.organization.id
    [found] = _told(authorized, [_find(uow, organization_id, subscription_id)])
    service = uow.services.by_id(organization_id, found.service_id)
    return found, [one.plan for one in uow.plans.of_service(service)] if service is not None else []


def move(uow: UnitOfWork, slug: str, subscription_id: UUID, plan_id: UUID | None, *, seen_version: str) -> None:
    """Move a live subscription to another plan of its service; raise `BadRequest` for any other plan."""
    organization, shown, before = _lock(uow, slug, subscription_id, seen_version)
    plan = uow.plans.find_in_organization(organization.id, plan_id) if plan_id is not None else None
    if plan is None or plan.service_id != shown.service_id:
        raise BadRequest.of_field("plan_id", "Choose one of the plans of this service.")
    save(uow, before, before.to_plan(plan))


def cancel(uow: UnitOfWork, slug: str, subscription_id: UUID, *, seen_version: str, note: str = "") -> None:
    """Cancel a live subscription at once; the audit log keeps the note."""
    kept = checked_note(note)
    _, _, before = _lock(uow, slug, subscription_id, seen_version)
    details = {"audit_only": {"note": kept}} if kept else {}
    save(uow, before, replace(before, status=SubscriptionStatus.CANCELLED), **details)


def _lock(
    uow: UnitOfWork, slug: str, subscription_id: UUID, seen_version: str
) -> tuple[Organization, ListedSubscription, Subscription]:
    """Return a live subscription, locked; raise `SubscriptionChangedSince` when it is not as the caller saw it."""
    organization = authorize_and_lock(uow, slug, Operation.SUBSCRIPTIONS_CHANGE).organization
    shown = _find(uow, organization.id, subscription_id)
    before = uow.subscriptions.lock_current(organization.id, shown.service_id, shown.user_id)
    found = _find(uow, organization.id, subscription_id)
    if before is None or before.id != subscription_id or not before.is_live or found.version != seen_version:
        raise SubscriptionChangedSince
    if before.is_billed:
        raise PaidElsewhere
    return organization, found, before


def _find(uow: UnitOfWork, organization_id: UUID, subscription_id: UUID) -> ListedSubscription:
    found = uow.found_subscriptions.find(organization_id, subscription_id)
    if found is None:
        raise ListedSubscriptionUnknown
    return found


def _told(authorized: OrganizationAccess, found: Sequence[ListedSubscription]) -> Sequence[ListedSubscription]:
    """Return subscriptions without the addresses of end users, if the reader does not see end users."""
    return found if _sees_end_users(authorized) else [replace(one, email=None) for one in found]


def _checked(uow: UnitOfWork, authorized: OrganizationAccess, wanted: SubscriptionFilter) -> SubscriptionFilter:
    """Return the filter; a part of the address filters only for a reader who sees end users."""
    part = part_of_email(wanted.part, uow.domain_names.to_ascii) if _sees_end_users(authorized) else ""
    return replace(wanted, part=part)


def _sees_end_users(authorized: OrganizationAccess) -> bool:
    return Capability.END_USERS_VIEW in authorized.capabilities
