"""The subscriptions of a person to all services, and the portal of the payment provider for what they pay.

An end user pays as a customer of their own for each service; a member's purchase is on the account of the organization,
whose portal is in `portal.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.billing import checkout
from core.billing.provider import BillingMode
from core.errors import NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.services.subscriptions import LIVE, SubscriptionStatus
from core.sessions.caller_limits import Act

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More than a person has; the newest are listed.
SUBSCRIPTIONS_MAX: Final = 100


class NothingToManage(NotFound):
    """The person pays nothing for the service as a customer of their own, or does not use such a service."""

    default_message = "You pay nothing for this application yourself, so there is nothing to manage."


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalSubscription:
    """A person's subscription to a service: the live one, else the newest.

    `is_billed` says whether the payment provider bills it, and `is_own_customer` whether the person has a portal there.
    """

    service_id: UUID
    service_name: str
    organization_name: str
    plan_name: str
    status: SubscriptionStatus
    current_period_end: datetime | None
    created_at: datetime
    is_billed: bool
    is_own_customer: bool

    @property
    def is_live(self) -> bool:
        """Whether it is in force."""
        return self.status in LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalSubscriptions:
    """The subscriptions of a person, and how many services they have subscribed to."""

    subscriptions: Sequence[PersonalSubscription]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalPortal:
    """The customer whose portal is to be opened, and where it leads back to."""

    customer_id: str
    organization_id: UUID
    return_url: str


def list_mine(uow: UnitOfWork, mode: BillingMode) -> PersonalSubscriptions:
    """Return the caller's subscriptions, as far as their session shows them, the live ones first."""
    caller = uow.caller
    found, total = uow.own_subscriptions.of_user(
        caller.account.id, mode, limits=caller.shown_within, limit=SUBSCRIPTIONS_MAX
    )
    return PersonalSubscriptions(subscriptions=found, total=total)


def request_portal(uow: UnitOfWork, service_id: UUID, *, return_url: str, mode: BillingMode) -> PersonalPortal:
    """Return the caller's own customer for a service; raise `NothingToManage` without one."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    checked = checkout.checked_url("return_url", return_url)
    found = uow.own_subscriptions.customer_of(caller.account.id, service_id, mode, limits=caller.shown_within)
    if found is None:
        raise NothingToManage
    organization_id, customer_id = found
    return PersonalPortal(customer_id=customer_id, organization_id=organization_id, return_url=checked)


def record_opened(uow: UnitOfWork, service_id: UUID, portal: PersonalPortal, *, mode: BillingMode) -> None:
    """Record that the caller gets the address of their portal, which works for anyone who has it for a while."""
    caller = uow.caller
    uow.record(
        AuditAction.BILLING_PORTAL_OPENED,
        portal.organization_id,
        organization_id=portal.organization_id,
        mode=mode.value,
        service_id=str(service_id),
        user_id=str(caller.account.id),
    )
