"""A payment provider that fails: repetitions under the same key, and `BILLING_ERROR` with nothing half done."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from adapters.gateways import stripe
from adapters.gateways.stripe import StripeGateway
from core.secrets import Secret
from entrypoints.installation import Installation
from tests.application import serving
from tests.payment_provider import KEY, PaymentProvider
from tests.world.billing import Seller, insert_seller
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

CHECKOUT = "/api/organizations/acme/services/shop/checkout"
PORTAL = "/api/organizations/acme/billing/portal"
NOTHING = UUID("01920000-0000-7000-8000-000000000000")


def unfinished(shop: Seller) -> int:
    """Return how many checkouts have no session."""
    return shop.world.value("SELECT count(*) FROM billing_checkouts WHERE session_id IS NULL")


@pytest.mark.parametrize("status", [500, 502, 409, 429])
async def test_a_failure_that_passes_is_repeated_under_the_same_key(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider, status: int
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(status, {"error": {"type": "api_error"}}, times=2)

    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert answer.status == 200
    assert len({request.key for request in provider.requests}) == 1
    assert len(provider.requests) == 3


async def test_a_lost_answer_is_repeated_and_leads_to_one_page(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(0, is_executed=True)

    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert answer.status == 200
    assert len(provider.made("checkout.session")) == 1


async def test_the_provider_decides_whether_a_repetition_helps(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(500, {"error": {"type": "api_error"}}, headers={"Stripe-Should-Retry": "false"})

    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert_refused(answer, 500, "BILLING_ERROR")
    assert len(provider.requests) == 1


WRONG_ANSWERS = [
    (400, {"error": {"type": "invalid_request_error", "code": "resource_missing"}}),
    (401, {"error": {"type": "invalid_request_error"}}),
    (402, {"error": {"type": "card_error"}}),
    (404, {"error": {"type": "invalid_request_error"}}),
    (200, {"error": {"type": "api_error", "message": "It says 200."}}),
    (200, {"error": None}),
    (200, {"id": "cs_1"}),
    (200, {"id": "cs_1", "url": None}),
    (200, {"id": "cs_1", "url": "javascript:alert(1)"}),
    (200, {"url": "https://pay.example.com/c/1"}),
    (200, []),
    (200, b"<html>"),
    (200, b"[" * 100_000),
    (200, b"\xff"),
    (200, b""),
    (302, b""),
]


async def test_a_wrong_answer_is_a_billing_error(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider, subtests: pytest.Subtests
) -> None:
    shop.bind_customer(mode="test")

    for status, body in WRONG_ANSWERS:
        with subtests.test(status=status, body=body):
            provider.misbehave(status, body)

            answer = await buyer.post(CHECKOUT, shop.purchase())

            assert_refused(answer, 500, "BILLING_ERROR")
            assert "provider" in answer.json["error"]


async def test_a_customer_that_cannot_be_made_is_a_billing_error_and_leaves_no_customer(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    provider.misbehave(400, {"error": {"type": "invalid_request_error"}})

    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert_refused(answer, 500, "BILLING_ERROR")
    assert shop.world.rows("SELECT FROM billing_customers") == []


async def test_an_answer_that_is_too_large_is_a_billing_error(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(200, b" " * (stripe.ANSWER_BYTES_MAX + 1))

    assert_refused(await buyer.post(CHECKOUT, shop.purchase()), 500, "BILLING_ERROR")


async def test_a_provider_that_cannot_be_reached_is_a_billing_error(
    world: World, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripe, "PAUSE_SECONDS_MIN", 0.0)
    gateway = StripeGateway(url="http://127.0.0.1:1", key=Secret(KEY), clock=world.clock)
    shop = insert_seller(replace(world, client=serving(replace(installation, billing=gateway))))

    answer = await (await shop.buyer()).post(CHECKOUT, shop.purchase())

    assert_refused(answer, 500, "BILLING_ERROR")
    await gateway.close()


async def test_a_provider_that_does_not_answer_in_time_is_a_billing_error(
    shop: Seller, buyer: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripe, "REQUEST_SECONDS_MAX", 0.0)

    assert_refused(await buyer.post(CHECKOUT, shop.purchase()), 500, "BILLING_ERROR")


async def test_a_checkout_without_an_answer_is_taken_up_under_the_same_key(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(503, b"", times=3, is_executed=True)
    failed = await buyer.post(CHECKOUT, shop.purchase())

    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert (failed.status, answer.status) == (500, 200)
    assert len(provider.made("checkout.session")) == 1
    assert len({request.key for request in provider.requests}) == 1
    assert unfinished(shop) == 0


async def test_a_checkout_that_the_provider_refused_is_not_taken_up(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(400, {"error": {"type": "invalid_request_error"}})
    await buyer.post(CHECKOUT, shop.purchase())
    left = unfinished(shop)

    await buyer.post(CHECKOUT, shop.purchase())

    assert left == 0
    assert len({request.key for request in provider.requests}) == 2
