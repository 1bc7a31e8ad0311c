"""The payment provider behind the port `BillingGateway`: customers, pages and subscriptions of the Stripe API."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

import httpx
import structlog
import trio

from adapters.gateways.failures import PROVIDER, reason_of
from adapters.gateways.outbound import Observed, unobserved
from adapters.gateways.stripe_requests import StripeAnswer, StripeRequests
from core.billing import provider
from core.billing.provider import (
    BillingFailed,
    BillingMode,
    CheckoutOrder,
    CheckoutSession,
    ReadSubscription,
    mode_of_key,
)
from core.secrets import Secret

if TYPE_CHECKING:
    from core.billing.customers import CustomerCreation
    from ports.clock import Clock

_OK: Final = 200
_ABOUT_KEY: Final = frozenset({401, 403})
# The clock of an answer has whole seconds.
CLOCK_MARGIN: Final = timedelta(seconds=1)

log = structlog.get_logger(__name__)


class StripeGateway:
    """The port `BillingGateway`."""

    def __init__(self, *, url: str, key: Secret, clock: Clock, observed: Observed = unobserved) -> None:
        self._mode = mode_of_key(key)
        self._clock = clock
        self._requests = StripeRequests(url=url, key=key, observed=observed)

    @property
    def mode(self) -> BillingMode:
        return self._mode

    async def close(self) -> None:
        """Close the connections."""
        await self._requests.close()

    async def problem(self) -> str | None:
        """Ask for a list of subscriptions; return why the provider cannot be used, None when it can.

        The caller limits the time.
        """
        try:
            status = await self._requests.ask("/v1/subscriptions?limit=1")
        except httpx.HTTPError as error:
            return reason_of(error, PROVIDER)
        if status in _ABOUT_KEY:
            return f"The provider refuses the key ({status})."
        return f"The provider answers with the status {status}." if status != _OK else None

    async def create_customer(self, creation: CustomerCreation) -> str:
        form: dict[str, Any] = {"name": creation.name, "metadata": creation.metadata}
        if creation.email is not None:
            form["email"] = creation.email
        return _id(await self._requests.post("/v1/customers", form, key=creation.idempotency_key))

    async def open_checkout(self, order: CheckoutOrder, *, key: str) -> CheckoutSession:
        form: Mapping[str, Any] = {
            "mode": "subscription",
            "customer": order.customer_id,
            "line_items": [{"price": order.price_id, "quantity": 1}],
            "success_url": order.success_url,
            "cancel_url": order.cancel_url,
            "metadata": order.metadata,
            "subscription_data": {"metadata": order.metadata},
        }
        answer = await self._requests.post("/v1/checkout/sessions", form, key=key)
        return CheckoutSession(checkout_url=_page_address(answer), session_id=_id(answer))

    async def open_portal(self, customer_id: str, return_url: str) -> str:
        form = {"customer": customer_id, "return_url": return_url}
        # A page of its own for each request, so the key only has to be the same for the repetitions of this one.
        key = f"gatehouse-portal-{secrets.token_hex(16)}"
        return _page_address(await self._requests.post("/v1/billing_portal/sessions", form, key=key))

    async def read_subscription(self, subscription_id: str) -> ReadSubscription | None:
        began_at = trio.current_time()
        answer = await self._requests.get(f"/v1/subscriptions/{quote(subscription_id, safe='')}")
        if answer.body is None:
            return None
        facts = provider.subscription_facts(answer.body)
        if facts.status is None or _id(answer) != subscription_id:
            raise _unusable("a subscription")
        # The state may be older than the answer by as much as the request took.
        took = timedelta(seconds=trio.current_time() - began_at)
        return ReadSubscription(
            customer_id=provider.reference(answer.body.get("customer")),
            facts=facts,
            as_of=(answer.answered_at or self._clock()) - took - CLOCK_MARGIN,
        )

    async def cancel_subscription(self, subscription_id: str) -> None:
        # For a subscription that has ended already, the provider answers that there is none.
        await self._requests.delete(f"/v1/subscriptions/{quote(subscription_id, safe='')}")


def _id(answer: StripeAnswer) -> str:
    found = provider.reference(answer.body)
    if found is None:
        raise _unusable("an id")
    return found


def _page_address(answer: StripeAnswer) -> str:
    url: Any = answer.body.get("url") if answer.body is not None else None
    if not isinstance(url, str) or urlsplit(url).scheme not in {"http", "https"}:
        raise _unusable("the address of a page")
    return url


def _unusable(missing: str) -> BillingFailed:
    log.error("billing.provider_failed", reason=f"the answer is without {missing}")
    return BillingFailed()
