"""Starting a checkout and opening the billing portal at the payment provider (operations 4.1, decisions 6.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from adapters.gateways import stripe_requests
from adapters.gateways.stripe import StripeGateway
from core.secrets import Secret
from tests.application import serving
from tests.concurrency import at_once, statuses_of
from tests.payment_provider import KEY, PaymentProvider, running_provider
from tests.world.billing import SUBSCRIPTION, Seller, insert_seller
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from entrypoints.installation import Installation
    from tests.application import Answer
    from tests.world.signing_in import SignedInUser

CHECKOUT = "/api/organizations/acme/services/shop/checkout"
PORTAL = "/api/organizations/acme/billing/portal"
NOTHING = UUID("01920000-0000-7000-8000-000000000000")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[PaymentProvider]:
    """A payment provider, which is asked again without a pause."""
    monkeypatch.setattr(stripe_requests, "PAUSE_SECONDS_MIN", 0.0)
    with running_provider() as provider:
        yield provider


@pytest.fixture
async def shop(world: World, installation: Installation, provider: PaymentProvider) -> AsyncIterator[Seller]:
    """The seller, with the payment provider instead of the sandbox."""
    gateway = StripeGateway(url=provider.url, key=Secret(KEY), clock=world.clock)
    yield insert_seller(replace(world, client=serving(replace(installation, billing=gateway))))
    await gateway.close()


@pytest.fixture
async def buyer(shop: Seller) -> SignedInUser:
    """The buyer, signed in."""
    return await shop.buyer()


def purchase(shop: Seller, plan: str = "pro", **changes: Any) -> dict[str, Any]:
    """Return the body that starts a checkout."""
    return {
        "plan_id": str(shop.plans[plan]),
        "success_url": "https://app.example.com/thanks?session={CHECKOUT_SESSION_ID}",
        "cancel_url": "https://app.example.com/prices",
    } | changes


def unfinished(shop: Seller) -> int:
    """Return how many checkouts have no session."""
    return shop.world.value("SELECT count(*) FROM billing_checkouts WHERE session_id IS NULL")


async def test_a_checkout_answers_the_provider_s_page(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    answer = await buyer.post(CHECKOUT, purchase(shop))

    assert answer.status == 200, answer.text
    [session] = provider.made("checkout.session")
    assert answer.json == {"checkout_url": session["url"], "session_id": session["id"]}


async def test_a_checkout_sends_the_purchase_in_bracket_notation(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, purchase(shop))

    [customer], [session] = provider.made("customer"), provider.made("checkout.session")
    metadata = {f"metadata[{name}]": value for name, value in shop.metadata.items()}
    assert session["form"] == {
        "mode": "subscription",
        "customer": customer["id"],
        "line_items[0][price]": "price_pro",
        "line_items[0][quantity]": "1",
        "success_url": "https://app.example.com/thanks?session={CHECKOUT_SESSION_ID}",
        "cancel_url": "https://app.example.com/prices",
        **metadata,
        **{f"subscription_data[{name.replace('[', '][', 1)}": value for name, value in metadata.items()},
    }
    assert customer["form"] == {"name": "Acme", "metadata[org_id]": str(shop.organization_id)}


async def test_requests_carry_the_key_the_pinned_version_and_an_idempotency_key(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, purchase(shop))

    assert [request.path for request in provider.requests] == ["/v1/customers", "/v1/checkout/sessions"]
    for request in provider.requests:
        assert request.headers["Authorization"].startswith("Basic ")
        assert request.headers["Stripe-Version"] == stripe_requests.API_VERSION
        assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert provider.requests[0].key == f"gatehouse-customer-{shop.organization_id}-1"
    assert len({request.key for request in provider.requests}) == 2


async def test_the_organization_s_customer_is_made_once(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, purchase(shop))
    await buyer.post(CHECKOUT, purchase(shop, "team"))

    assert len(provider.made("customer")) == 1
    assert len(provider.made("checkout.session")) == 2


async def test_the_customer_is_made_once_even_by_concurrent_requests(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    answers = await at_once(
        *[lambda plan=plan: buyer.post(CHECKOUT, purchase(shop, plan)) for plan in ("pro", "team", "pro", "team")]
    )

    assert statuses_of(answers) == [200] * 4
    assert len(provider.made("customer")) == 1
    assert {session["form"]["customer"] for session in provider.made("checkout.session")} == {
        provider.made("customer")[0]["id"]
    }


async def test_a_customer_that_was_deleted_is_replaced_by_another(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, purchase(shop))
    shop.world.connection.execute("UPDATE billing_customers SET deleted_at = now()")

    await buyer.post(CHECKOUT, purchase(shop))

    assert len(provider.made("customer")) == 2


@pytest.mark.parametrize("status", [500, 502, 409, 429])
async def test_a_failure_that_passes_is_repeated_under_the_same_key(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider, status: int
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(status, {"error": {"type": "api_error"}}, times=2)

    answer = await buyer.post(CHECKOUT, purchase(shop))

    assert answer.status == 200
    assert len({request.key for request in provider.requests}) == 1
    assert len(provider.requests) == 3


async def test_a_lost_answer_is_repeated_and_leads_to_one_page(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(0, is_executed=True)

    answer = await buyer.post(CHECKOUT, purchase(shop))

    assert answer.status == 200
    assert len(provider.made("checkout.session")) == 1


async def test_the_provider_decides_whether_a_repetition_helps(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(500, {"error": {"type": "api_error"}}, headers={"Stripe-Should-Retry": "false"})

    answer = await buyer.post(CHECKOUT, purchase(shop))

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
    (200, b"\xff"),
    (200, b""),
    (302, b""),
]


@pytest.mark.parametrize(("status", "body"), WRONG_ANSWERS)
async def test_a_wrong_answer_is_a_billing_error(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider, status: int, body: Any
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(status, body)

    answer = await buyer.post(CHECKOUT, purchase(shop))

    assert_refused(answer, 500, "BILLING_ERROR")
    assert "provider" in answer.json["error"]


async def test_a_customer_that_cannot_be_made_is_a_billing_error_and_leaves_no_customer(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    provider.misbehave(400, {"error": {"type": "invalid_request_error"}})

    answer = await buyer.post(CHECKOUT, purchase(shop))

    assert_refused(answer, 500, "BILLING_ERROR")
    assert shop.world.rows("SELECT FROM billing_customers") == []


async def test_an_answer_that_is_too_large_is_a_billing_error(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(200, b" " * (stripe_requests.ANSWER_BYTES_MAX + 1))

    assert_refused(await buyer.post(CHECKOUT, purchase(shop)), 500, "BILLING_ERROR")


async def test_a_provider_that_cannot_be_reached_is_a_billing_error(
    world: World, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripe_requests, "PAUSE_SECONDS_MIN", 0.0)
    gateway = StripeGateway(url="http://127.0.0.1:1", key=Secret(KEY), clock=world.clock)
    shop = insert_seller(replace(world, client=serving(replace(installation, billing=gateway))))

    answer = await (await shop.buyer()).post(CHECKOUT, purchase(shop))

    assert_refused(answer, 500, "BILLING_ERROR")
    await gateway.close()


async def test_a_provider_that_does_not_answer_in_time_is_a_billing_error(
    shop: Seller, buyer: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripe_requests, "REQUEST_SECONDS_MAX", 0.0)

    assert_refused(await buyer.post(CHECKOUT, purchase(shop)), 500, "BILLING_ERROR")


async def test_a_checkout_without_an_answer_is_taken_up_under_the_same_key(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(503, b"", times=3, is_executed=True)
    failed = await buyer.post(CHECKOUT, purchase(shop))

    answer = await buyer.post(CHECKOUT, purchase(shop))

    assert (failed.status, answer.status) == (500, 200)
    assert len(provider.made("checkout.session")) == 1
    assert len({request.key for request in provider.requests}) == 1
    assert unfinished(shop) == 0


async def test_a_checkout_that_the_provider_refused_is_not_taken_up(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer(mode="test")
    provider.misbehave(400, {"error": {"type": "invalid_request_error"}})
    await buyer.post(CHECKOUT, purchase(shop))
    left = unfinished(shop)

    await buyer.post(CHECKOUT, purchase(shop))

    assert left == 0
    assert len({request.key for request in provider.requests}) == 2


async def test_each_finished_checkout_has_a_page_of_its_own(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    first = await buyer.post(CHECKOUT, purchase(shop))
    second = await buyer.post(CHECKOUT, purchase(shop))

    assert first.json["session_id"] != second.json["session_id"]


async def test_an_unknown_plan_is_refused(shop: Seller, buyer: SignedInUser) -> None:
    answer = await buyer.post(CHECKOUT, purchase(shop, plan_id=str(NOTHING)))

    assert_refused(answer, 400, "BAD_REQUEST")


async def test_a_plan_without_a_billing_price_is_refused(shop: Seller, buyer: SignedInUser) -> None:
    assert_refused(await buyer.post(CHECKOUT, purchase(shop, "free")), 400, "BAD_REQUEST")


async def test_a_plan_of_another_service_is_refused(shop: Seller, buyer: SignedInUser) -> None:
    blog = shop.world.service(shop.organization_id, "blog")
    plan_id = shop.world.plan(shop.organization_id, blog.id, "Blog", billing_price_id="price_blog")

    assert_refused(await buyer.post(CHECKOUT, purchase(shop, plan_id=str(plan_id))), 400, "BAD_REQUEST")


async def test_a_plan_of_another_organization_is_unknown(shop: Seller, buyer: SignedInUser) -> None:
    globex = shop.world.organization("globex")
    till = shop.world.service(globex, "till")
    plan_id = shop.world.plan(globex, till.id, "Gold", billing_price_id="price_gold")

    foreign = await buyer.post(CHECKOUT, purchase(shop, plan_id=str(plan_id)))
    unknown = await buyer.post(CHECKOUT, purchase(shop, plan_id=str(NOTHING)))

    assert foreign.json["error"] == unknown.json["error"]


async def test_an_unknown_service_is_not_found(shop: Seller, buyer: SignedInUser) -> None:
    answer = await buyer.post(CHECKOUT.replace("shop", "nothing"), purchase(shop))

    assert_refused(answer, 404, "NOT_FOUND")


async def test_a_stranger_cannot_buy(shop: Seller) -> None:
    stranger = await shop.world.signed_in_user("stranger@example.com")

    assert_refused(await stranger.post(CHECKOUT, purchase(shop)), 403, "FORBIDDEN")


async def test_a_buyer_with_a_live_subscription_is_refused(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await shop.sell()

    assert_refused(await buyer.post(CHECKOUT, purchase(shop)), 409, "CONFLICT")
    assert provider.made("checkout.session") == []


@pytest.mark.parametrize("field", ["success_url", "cancel_url"])
@pytest.mark.parametrize(
    "url",
    [
        "",
        "/thanks",
        "//app.example.com",
        "app.example.com",
        "ftp://app.example.com",
        "javascript:alert(1)//https://",
        "https://",
        "https:///thanks",
        "https://user@app.example.com",
        "https://app.example.com:port",
        "https://app.example.com:0",
        "https://app.example.com/\r\nSet-Cookie: a=b",
        "https://app.example.com/ a",
        "https://app.exämple.com",
        "https://app.example.com;script-src",
        "https://[::1",
        "https://app.example.com/{OTHER}",
        "https://app.example.com/" + "a" * 2048,
    ],
)
async def test_an_address_that_is_not_absolute_http_is_refused(
    shop: Seller, buyer: SignedInUser, field: str, url: str
) -> None:
    answer = await buyer.post(CHECKOUT, purchase(shop, **{field: url}))

    assert_refused(answer, 400, "BAD_REQUEST")
    assert [problem["field"] for problem in answer.json["details"]] == [field]


@pytest.mark.parametrize("url", ["http://localhost:3000/thanks#done", "https://[::1]:8443/a?b=%20c"])
async def test_any_absolute_http_address_is_accepted(shop: Seller, buyer: SignedInUser, url: str) -> None:
    assert (await buyer.post(CHECKOUT, purchase(shop, success_url=url, cancel_url=url))).status == 200


async def test_the_placeholder_of_the_session_is_for_the_success_address_only(
    shop: Seller, buyer: SignedInUser
) -> None:
    url = "https://app.example.com/?s={CHECKOUT_SESSION_ID}"

    assert_refused(await buyer.post(CHECKOUT, purchase(shop, cancel_url=url)), 400, "BAD_REQUEST")


async def test_the_portal_leads_to_the_provider_s_page(shop: Seller, provider: PaymentProvider) -> None:
    owner = await shop.world.signed_in_member(shop.organization_id)

    answer = await owner.post(PORTAL, {"return_url": "https://app.example.com/billing"})

    [portal], [customer] = provider.made("billing_portal.session"), provider.made("customer")
    assert answer.json == {"portal_url": portal["url"]}
    assert portal["form"] == {"customer": customer["id"], "return_url": "https://app.example.com/billing"}


async def test_the_portal_needs_the_capability_for_billing(shop: Seller, buyer: SignedInUser) -> None:
    assert_refused(await buyer.post(PORTAL, {"return_url": "https://app.example.com/"}), 403, "FORBIDDEN")


async def test_the_portal_returns_to_an_absolute_address_only(shop: Seller) -> None:
    owner = await shop.world.signed_in_member(shop.organization_id)

    assert_refused(await owner.post(PORTAL, {"return_url": "/billing"}), 400, "BAD_REQUEST")


async def test_a_portal_that_fails_is_a_billing_error(shop: Seller, provider: PaymentProvider) -> None:
    owner = await shop.world.signed_in_member(shop.organization_id)
    shop.bind_customer(mode="test")
    provider.misbehave(400, {"error": {"type": "invalid_request_error"}})

    answer = await owner.post(PORTAL, {"return_url": "https://app.example.com/billing"})

    assert_refused(answer, 500, "BILLING_ERROR")


async def test_events_that_come_before_the_provider_s_answer_take_effect_with_it(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await shop.report("customer.subscription.created", shop.subscription(customer="cus_1"))
    parked = shop.outcome(SUBSCRIPTION)

    await buyer.post(CHECKOUT, purchase(shop))

    assert provider.made("customer")[0]["id"] == "cus_1"
    assert parked == "parked"
    assert shop.state() == ("pro", "active")


async def test_a_customer_of_the_sandbox_is_not_used_at_the_provider(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer("cus_sandbox_1", mode="sandbox")

    answer: Answer = await buyer.post(CHECKOUT, purchase(shop))

    assert answer.status == 200
    assert provider.made("checkout.session")[0]["form"]["customer"] == provider.made("customer")[0]["id"]
