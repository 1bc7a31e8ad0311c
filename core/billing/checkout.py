"""Checkout: a member buys a plan of a service on a page of the payment provider.

The provider is asked between two transactions. The first one authorizes, finds the plan and stores the checkout; its id
is the key under which the provider makes the page. If a checkout got no answer, because Gatehouse or the provider
stopped, the next request for the same purchase continues it under the same key.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.billing import provider_customers, subscriptions
from core.billing.provider import BillingFailed, BillingMode, CheckoutOrder, SubscriptionBinding
from core.billing.provider_customers import CustomerCreation
from core.errors import BadRequest, Conflict, all_valid
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.organizations import Organization
from core.services.plans import Plan, PlanUnknown
from core.services.services import Service, ServiceUnknown
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

URL_CHARACTERS_MAX: Final = 2048
# The provider keeps its answers under a key for a day.
REPEATABLE_FOR: Final = timedelta(hours=23)
# The provider replaces it with the id of the session.
SESSION_PLACEHOLDER: Final = "{CHECKOUT_SESSION_ID}"
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f\\<>\"'`{}|^]|[^\x00-\x7f]")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]")


class PlanNotFound(BadRequest):
    """The plan does not exist."""

    default_message = "There is no such plan. Choose one of this service's plans."


class PlanOfAnotherService(BadRequest):
    """The plan belongs to another service of the organization."""

    default_message = "This plan belongs to another service. Choose one of this service's plans."


class PlanNotForSale(BadRequest):
    """The plan has no price at the payment provider."""

    default_message = "This plan has no billing price, so it cannot be bought. Give it a billing_price_id first."


class AlreadySubscribed(Conflict):
    """The buyer has a live subscription to the service, so they would pay for another one without an effect."""

    default_message = (
        "You already have a subscription to this service. Change or cancel it in the billing portal instead of buying"
        " another one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A checkout that was started; without a session the provider has not answered yet."""

    id: UUID
    organization_id: UUID
    service_id: UUID
    user_id: UUID
    plan_id: UUID
    price_id: str
    success_url: str
    cancel_url: str
    created_at: datetime

    @property
    def idempotency_key(self) -> str:
        """The key under which the provider makes the page."""
        return f"gatehouse-checkout-{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A started checkout: the request to the provider. `customer` is set when a customer has to be made first."""

    checkout: Checkout
    customer_id: str | None
    customer: CustomerCreation | None
    plan: Plan
    service_name: str

    def order(self, customer_id: str) -> CheckoutOrder:
        """Return what the provider's page sells to this customer."""
        checkout = self.checkout
        binding = SubscriptionBinding(
            organization_id=checkout.organization_id,
            service_id=checkout.service_id,
            plan_id=checkout.plan_id,
            user_id=checkout.user_id,
        )
        return CheckoutOrder(
            customer_id=customer_id,
            price_id=checkout.price_id,
            success_url=checkout.success_url,
            cancel_url=checkout.cancel_url,
            metadata=binding.metadata,
            service_name=self.service_name,
            plan_name=self.plan.name,
            price_cents=self.plan.price_cents,
            currency=self.plan.currency,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A plan that the caller may buy; `is_subscribed` means that they have a live subscription to the service."""

    service: Service
    plan: Plan
    is_subscribed: bool


def show_offer(uow: UnitOfWork, slug: str, service_slug: str, plan_id: UUID) -> Offer:
    """Return a plan of a service to a member; raise `ServiceUnknown`, then `PlanUnknown`."""
    authorized = authorize(uow, slug, Operation.CHECKOUT)
    service = uow.services.by_slug(authorized.organization.id, service_slug)
    if service is None:
        raise ServiceUnknown
    plan = uow.plans.find(service.organization_id, service.id, plan_id)
    if plan is None:
        raise PlanUnknown
    current = uow.subscriptions.current(service.organization_id, service.id, authorized.caller.account.id)
    return Offer(service=service, plan=plan, is_subscribed=current is not None and current.is_live)


def start(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    plan_id: UUID,
    *,
    success_url: str,
    cancel_url: str,
    mode: BillingMode,
) -> Started:
    """Store a checkout of the caller, or continue one that the provider has not answered."""
    authorized = authorize(uow, slug, Operation.CHECKOUT)
    success_url, cancel_url = checked_urls(success_url, cancel_url)
    organization = authorized.organization
    service = uow.services.by_slug(organization.id, service_slug)
    if service is None:
        raise ServiceUnknown
    plan = uow.plans.find_in_organization(organization.id, plan_id)
    if plan is None:
        raise PlanNotFound
    if plan.service_id != service.id:
        raise PlanOfAnotherService
    if plan.billing_price_id is None:
        raise PlanNotForSale
    current = uow.subscriptions.current(service.organization_id, service.id, authorized.caller.account.id)
    if current is not None and current.is_live:
        raise AlreadySubscribed
    checkout = begin(
        uow,
        plan,
        plan.billing_price_id,
        authorized.caller.account.id,
        success_url=success_url,
        cancel_url=cancel_url,
        mode=mode,
    )
    customer_id, creation = customer_or_creation(uow, organization, mode)
    return Started(checkout=checkout, customer_id=customer_id, customer=creation, plan=plan, service_name=service.name)


def begin(
    uow: UnitOfWork, plan: Plan, price_id: str, user_id: UUID, *, success_url: str, cancel_url: str, mode: BillingMode
) -> Checkout:
    """Store a checkout of a plan, or return an equal one that the provider has not answered."""
    checkout = Checkout(
        id=uow.randomness.new_id(),
        organization_id=plan.organization_id,
        service_id=plan.service_id,
        user_id=user_id,
        plan_id=plan.id,
        price_id=price_id,
        success_url=success_url,
        cancel_url=cancel_url,
        created_at=uow.now,
    )
    return uow.billing_checkouts.start(checkout, mode, unfinished_since=uow.now - REPEATABLE_FOR)


def customer_or_creation(
    uow: UnitOfWork, organization: Organization, mode: BillingMode
) -> tuple[str, None] | tuple[None, CustomerCreation]:
    """Return the organization's customer, or the customer to make when it has none."""
    customer = uow.billing_customers.of_organization(organization.id, mode)
    if customer is not None:
        return customer.id, None
    return None, provider_customers.creation(uow, organization.id, organization.name, mode)


def bind_created(uow: UnitOfWork, creation: CustomerCreation, customer_id: str, mode: BillingMode) -> str:
    """Bind a customer that the provider has made; return the customer to use, which may be another one."""
    if creation.service_id is None or creation.user_id is None:
        return bind_customer(uow, creation.organization_id, customer_id, mode)
    of = (creation.organization_id, creation.service_id, creation.user_id)
    if uow.billing_customers.bind_to_user(customer_id, *of, mode):
        subscriptions.settle_all_of(uow, customer_id)
        return customer_id
    present = uow.billing_customers.of_user(*of, mode)
    if present is None:
        raise BillingFailed
    return present.id


def bind_customer(uow: UnitOfWork, organization_id: UUID, customer_id: str, mode: BillingMode) -> str:
    """Bind a customer that was made for an organization; return the organization's customer, which may be another."""
    if uow.billing_customers.bind(customer_id, organization_id, mode):
        # Its events may have come before the provider's answer.
        subscriptions.settle_all_of(uow, customer_id)
        return customer_id
    present = uow.billing_customers.of_organization(organization_id, mode)
    if present is None:
        raise BillingFailed
    return present.id


def finish(uow: UnitOfWork, checkout: Checkout, session_id: str) -> None:
    """Record the provider's session of a checkout."""
    uow.billing_checkouts.finish(checkout, session_id)


def abandon(uow: UnitOfWork, checkout: Checkout) -> None:
    """Forget a checkout that the provider has refused, because it would repeat that answer under the same key."""
    uow.billing_checkouts.remove(checkout)


def checked_urls(success_url: str, cancel_url: str) -> tuple[str, str]:
    """Return the two addresses of a checkout; raise one `BadRequest` for both."""
    return all_valid(
        lambda: checked_url("success_url", success_url, may_have_placeholder=True),
        lambda: checked_url("cancel_url", cancel_url),
    )


def checked_url(field: str, url: str, *, may_have_placeholder: bool = False) -> str:
    """Return an address to send the buyer to; raise `BadRequest` unless it is an absolute http(s) address."""
    plain = url.replace(SESSION_PLACEHOLDER, "") if may_have_placeholder else url
    if len(url) > URL_CHARACTERS_MAX or _UNSAFE.search(plain) or not _is_web_address(plain):
        raise BadRequest.of_field(
            field,
            Wording(
                "This takes an absolute http or https address of at most %(maximum)s characters.",
                maximum=URL_CHARACTERS_MAX,
            ),
        )
    return url


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    is_plain_host = "@" not in parts.netloc and _HOST.fullmatch(host) is not None
    return parts.scheme in {"http", "https"} and is_plain_host and port != 0
