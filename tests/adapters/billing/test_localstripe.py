"""localstripe, an independent fake of the provider's API: we call it, and it sends us its events.

It knows no checkout pages and no idempotency keys; `tests/payment_provider.py` does.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from adapters.gateways.stripe import StripeGateway
from core.billing.provider import BillingFailed
from core.billing.provider_customers import CustomerCreation
from core.secrets import Secret
from core.services.subscriptions import SubscriptionStatus
from tests.clock import SettableClock
from tests.peers import peer
from tests.processes import Services, services
from tests.waiting import wait_until
from tests.world.billing import Seller

__all__ = ["services"]
pytestmark = pytest.mark.long

KEY = "sk_test_of_the_tests"
WEBHOOK_SECRET = "whsec_of_the_tests"
EVENT_SECONDS_MAX = 120.0


@contextmanager
def running_localstripe(folder: Path) -> Generator[str]:
    """Run localstripe on a free port; return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = peer("localstripe").program("localstripe")
    with (folder / "localstripe.log").open("wb") as log:
        process = subprocess.Popen([program, "--port", str(port), "--from-scratch"], stdout=log, stderr=log, cwd=folder)
    try:
        wait_until(lambda: _listens(port), seconds_max=120)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def subscribe(url: str, customer_id: str, metadata: dict[str, str]) -> dict[str, Any]:
    """Make a plan and a subscription to it, paid by a card, as an administrator does in the provider's dashboard."""
    with httpx.Client(base_url=url, auth=(KEY, ""), trust_env=False) as provider:

        def post(path: str, **form: str) -> dict[str, Any]:
            answer = provider.post(path, data=form)
            assert answer.status_code == 200, answer.text
            return answer.json()

        post("/v1/products", id="prod_1", name="Pro", type="service")
        post("/v1/plans", id="price_pro", product="prod_1", currency="usd", interval="month", amount="990")
        card = {"card[number]": "4242424242424242", "card[exp_month]": "12", "card[exp_year]": "2040", "card[cvc]": "1"}
        method = post("/v1/payment_methods", type="card", **{**card, "card[cvc]": "123"})
        post(f"/v1/payment_methods/{method['id']}/attach", customer=customer_id)
        post(f"/v1/customers/{customer_id}", **{"invoice_settings[default_payment_method]": method["id"]})
        named = {f"metadata[{name}]": value for name, value in metadata.items()}
        return post("/v1/subscriptions", customer=customer_id, **{"items[0][plan]": "price_pro", **named})


async def test_the_gateway_makes_customers_and_reads_and_ends_subscriptions_of_localstripe(
    seller: Seller, clock: SettableClock, tmp_path: Path
) -> None:
    with running_localstripe(tmp_path) as url:
        gateway = StripeGateway(url=url, key=Secret(KEY), clock=clock)
        creation = CustomerCreation(organization_id=seller.organization_id, name="Acme", idempotency_key="key")

        customer_id = await gateway.create_customer(creation)
        made = subscribe(url, customer_id, seller.metadata)
        read = await gateway.read_subscription(made["id"])
        missing = await gateway.read_subscription("sub_nothing")
        for subscription_id in (made["id"], made["id"], "sub_nothing"):
            await gateway.cancel_subscription(subscription_id)
        ended = await gateway.read_subscription(made["id"])
        await gateway.close()

    assert read is not None
    assert (read.customer_id, read.facts.status, read.facts.price_id) == (
        customer_id,
        SubscriptionStatus.ACTIVE,
        "price_pro",
    )
    assert read.facts.binding is not None
    assert read.facts.binding.metadata == seller.metadata
    assert read.facts.period_end is not None
    assert missing is None
    assert ended is not None
    assert ended.facts.status is SubscriptionStatus.CANCELLED


async def test_what_localstripe_does_not_know_is_a_billing_error(clock: SettableClock, tmp_path: Path) -> None:
    with running_localstripe(tmp_path) as url:
        gateway = StripeGateway(url=url, key=Secret(KEY), clock=clock)

        with pytest.raises(BillingFailed) as unknown:
            await gateway.open_portal("cus_nothing", "https://app.example.com/")
        wrong_key = StripeGateway(url=url, key=Secret("no key of theirs"), clock=clock)
        with pytest.raises(BillingFailed) as refused:
            await wrong_key.create_customer(
                CustomerCreation(organization_id=UUID(int=1), name="Acme", idempotency_key="key")
            )
        await gateway.close()
        await wrong_key.close()

    assert unknown.value.is_refused
    assert refused.value.is_refused


def test_the_events_of_localstripe_arrive_at_a_running_server(
    seller: Seller, services: Services, tmp_path: Path
) -> None:
    with running_localstripe(tmp_path) as url:
        service = services.ready(
            BILLING_URL=url, BILLING_SECRET_KEY=KEY, BILLING_WEBHOOK_SECRET=WEBHOOK_SECRET, LOG_LEVEL="debug"
        )
        with httpx.Client(base_url=url, auth=(KEY, ""), trust_env=False) as provider:
            receiver = f"http://127.0.0.1:{service.port}/webhooks/billing"
            provider.post("/_config/webhooks/gatehouse", data={"url": receiver, "secret": WEBHOOK_SECRET})
            customer = provider.post("/v1/customers", data={"metadata[org_id]": str(seller.organization_id)}).json()
            made = subscribe(url, customer["id"], seller.metadata)
            wait_until(lambda: bool(seller.subscriptions()), seconds_max=EVENT_SECONDS_MAX)
            active = seller.state()
            provider.delete(f"/v1/subscriptions/{made['id']}")
            wait_until(lambda: seller.state()[1] == "cancelled", seconds_max=EVENT_SECONDS_MAX)

    assert active == ("pro", "active")
    assert seller.outcome(made["id"]) == "applied"
