"""Buying a plan for an end user of a service: the backend of the service starts the checkout.

The end user need not be a member, and pays as a separate customer of the payment provider: its portal shows nothing
that the organization pays for, nor the other way round. A member buys in `core/billing/checkout.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.billing import checkout, provider_customers
from core.billing.checkout import PlanNotForSale, Started
from core.billing.provider import BillingMode
from core.errors import NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.service_api import subscriptions
from core.service_api.subscriptions import SubscriptionExists
from core.services import api_keys, user_metadata
from core.services.api_keys import Permission, ServiceCaller
from core.services.user_metadata import ServiceUser, ServiceUserUnknown

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NothingBought(NotFound):
    """The user has bought nothing through this service, and so is no customer of the payment provider."""

    default_message = "This user has bought nothing through this service yet, so there is nothing to manage."


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPortal:
    """The customer whose portal is to be opened, and where the portal leads back to."""

    user_id: UUID
    customer_id: str
    return_url: str


def start(
    uow: UnitOfWork, known_id: UUID, plan_id: UUID, *, success_url: str, cancel_url: str, mode: BillingMode
) -> Started:
    """Store a checkout of a user of the service, or continue one that the provider has not answered."""
    caller = api_keys.authorize(uow, Permission.WRITE_SUBSCRIPTIONS)
    success_url, cancel_url = checkout.checked_urls(success_url, cancel_url)
    user_id, user = _held(uow, caller, known_id)
    plan = subscriptions.find_plan(uow, caller, plan_id)
    if plan.billing_price_id is None:
        raise PlanNotForSale
    current = uow.subscriptions.current(caller.organization_id, caller.service_id, user_id)
    if current is not None and current.is_live:
        raise SubscriptionExists
    service = api_keys.service_of(uow, caller)
    begun = checkout.begin(
        uow, plan, plan.billing_price_id, user_id, success_url=success_url, cancel_url=cancel_url, mode=mode
    )
    of = (caller.organization_id, caller.service_id, user_id)
    customer = uow.billing_customers.of_user(*of, mode)
    return Started(
        checkout=begun,
        customer_id=customer.id if customer is not None else None,
        customer=provider_customers.creation_of_user(uow, *of, user.email, mode) if customer is None else None,
        plan=plan,
        service_name=service.name,
    )


def request_portal(uow: UnitOfWork, known_id: UUID, *, return_url: str, mode: BillingMode) -> UserPortal:
    """Return the customer of a user of the service at the payment provider; raise `NothingBought` without one."""
    caller = api_keys.authorize(uow, Permission.WRITE_SUBSCRIPTIONS)
    checked = checkout.checked_url("return_url", return_url)
    user_id, _ = _held(uow, caller, known_id)
    customer = uow.billing_customers.of_user(caller.organization_id, caller.service_id, user_id, mode)
    if customer is None:
        raise NothingBought
    return UserPortal(user_id=user_id, customer_id=customer.id, return_url=checked)


def record_portal_opened(uow: UnitOfWork, user_id: UUID, *, mode: BillingMode) -> None:
    """Record that the backend gets the address of a user's portal, which works for anyone who has it for a while."""
    caller = api_keys.authorize(uow, Permission.WRITE_SUBSCRIPTIONS)
    uow.record(
        AuditAction.BILLING_PORTAL_OPENED,
        caller.organization_id,
        organization_id=caller.organization_id,
        mode=mode.value,
        service_id=str(caller.service_id),
        user_id=str(user_id),
    )


def _held(uow: UnitOfWork, caller: ServiceCaller, known_id: UUID) -> tuple[UUID, ServiceUser]:
    """Return a user of the service and their account, and keep the user in the service; raise `ServiceUserUnknown`."""
    user_id = uow.service_users.hold(caller, known_id)
    if user_id is None:
        raise ServiceUserUnknown
    return user_id, user_metadata.found(uow, caller.organization_id, caller.service_id, known_id)
