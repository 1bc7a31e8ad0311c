"""Starting a checkout at the payment provider."""

from __future__ import annotations

from uuid import UUID

import pytest

from adapters.gateways import stripe
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.payment_provider import PaymentProvider
from tests.world.billing import SUBSCRIPTION, Seller
from tests.world.signing_in import SignedInUser
from tests.world.world import assert_refused

CHECKOUT = "/api/organizations/acme/services/shop/checkout"
PORTAL = "/api/organizations/acme/billing/portal"
NOTHING = UUID("01920000-0000-7000-8000-000000000000")


async def test_a_checkout_answers_the_provider_s_page(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert answer.status == 200, answer.text
    [session] = provider.made("checkout.session")
    assert answer.json == {"checkout_url": session["url"], "session_id": session["id"]}


async def test_a_checkout_sends_the_purchase_in_bracket_notation(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, shop.purchase())

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
    await buyer.post(CHECKOUT, shop.purchase())

    assert [request.path for request in provider.requests] == ["/v1/customers", "/v1/checkout/sessions"]
    for request in provider.requests:
        assert request.headers["Authorization"].startswith("Basic ")
        assert request.headers["Stripe-Version"] == stripe.API_VERSION
        assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert provider.requests[0].key == f"gatehouse-customer-{shop.organization_id}-1"
    assert len({request.key for request in provider.requests}) == 2


async def test_the_organization_s_customer_is_made_once(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, shop.purchase())
    await buyer.post(CHECKOUT, shop.purchase("team"))

    assert len(provider.made("customer")) == 1
    assert len(provider.made("checkout.session")) == 2


async def test_the_customer_is_made_once_even_by_concurrent_requests(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    answers = await at_once(
        *[lambda plan=plan: buyer.post(CHECKOUT, shop.purchase(plan)) for plan in ("pro", "team", "pro", "team")]
    )

    assert statuses_of(answers) == [200] * 4
    assert len(provider.made("customer")) == 1
    assert {session["form"]["customer"] for session in provider.made("checkout.session")} == {
        provider.made("customer")[0]["id"]
    }


async def test_a_customer_that_was_deleted_is_replaced_by_another(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await buyer.post(CHECKOUT, shop.purchase())
    shop.world.connection.execute("UPDATE billing_customers SET deleted_at = now()")

    await buyer.post(CHECKOUT, shop.purchase())

    assert len(provider.made("customer")) == 2


async def test_each_finished_checkout_has_a_page_of_its_own(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    first = await buyer.post(CHECKOUT, shop.purchase())
    second = await buyer.post(CHECKOUT, shop.purchase())

    assert first.json["session_id"] != second.json["session_id"]


async def test_an_unknown_plan_is_refused(shop: Seller, buyer: SignedInUser) -> None:
    answer = await buyer.post(CHECKOUT, shop.purchase(plan_id=str(NOTHING)))

    assert_refused(answer, 400, "BAD_REQUEST")


async def test_a_plan_without_a_billing_price_is_refused(shop: Seller, buyer: SignedInUser) -> None:
    assert_refused(await buyer.post(CHECKOUT, shop.purchase("free")), 400, "BAD_REQUEST")


async def test_a_plan_of_another_service_is_refused(shop: Seller, buyer: SignedInUser) -> None:
    blog = shop.world.service(shop.organization_id, "blog")
    plan_id = shop.world.plan(shop.organization_id, blog.id, "Blog", billing_price_id="price_blog")

    assert_refused(await buyer.post(CHECKOUT, shop.purchase(plan_id=str(plan_id))), 400, "BAD_REQUEST")


async def test_a_plan_of_another_organization_is_unknown(shop: Seller, buyer: SignedInUser) -> None:
    globex = shop.world.organization("globex")
    till = shop.world.service(globex, "till")
    plan_id = shop.world.plan(globex, till.id, "Gold", billing_price_id="price_gold")

    foreign = await buyer.post(CHECKOUT, shop.purchase(plan_id=str(plan_id)))
    unknown = await buyer.post(CHECKOUT, shop.purchase(plan_id=str(NOTHING)))

    assert foreign.json["error"] == unknown.json["error"]


async def test_an_unknown_service_is_not_found(shop: Seller, buyer: SignedInUser) -> None:
    answer = await buyer.post(CHECKOUT.replace("shop", "nothing"), shop.purchase())

    assert_refused(answer, 404, "NOT_FOUND")


async def test_a_stranger_cannot_buy(shop: Seller) -> None:
    stranger = await shop.world.signed_in_user("stranger@example.com")

    assert_refused(await stranger.post(CHECKOUT, shop.purchase()), 403, "FORBIDDEN")


async def test_a_buyer_with_a_live_subscription_is_refused(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await shop.sell()

    assert_refused(await buyer.post(CHECKOUT, shop.purchase()), 409, "CONFLICT")
    assert provider.made("checkout.session") == []


async def test_a_buyer_whose_subscription_has_ended_buys_again(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await shop.sell()
    await shop.report("customer.subscription.deleted", shop.subscription("canceled"))

    answer = await buyer.post(CHECKOUT, shop.purchase())

    assert answer.status == 200, answer.text
    assert len(provider.made("checkout.session")) == 1


async def test_an_address_that_is_not_absolute_http_is_refused(
    shop: Seller, buyer: SignedInUser, subtests: pytest.Subtests
) -> None:
    for url in (
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
    ):
        for field in ("success_url", "cancel_url"):
            with subtests.test(field=field, url=url):
                answer = await buyer.post(CHECKOUT, shop.purchase(**{field: url}))

                assert_refused(answer, 400, "BAD_REQUEST")
                assert [problem["field"] for problem in answer.json["details"]] == [field]


@pytest.mark.parametrize("url", ["http://localhost:3000/thanks#done", "https://[::1]:8443/a?b=%20c"])
async def test_any_absolute_http_address_is_accepted(shop: Seller, buyer: SignedInUser, url: str) -> None:
    assert (await buyer.post(CHECKOUT, shop.purchase(success_url=url, cancel_url=url))).status == 200


async def test_the_placeholder_of_the_session_is_for_the_success_address_only(
    shop: Seller, buyer: SignedInUser
) -> None:
    url = "https://app.example.com/?s={CHECKOUT_SESSION_ID}"

    assert_refused(await buyer.post(CHECKOUT, shop.purchase(cancel_url=url)), 400, "BAD_REQUEST")


async def test_events_that_come_before_the_provider_s_answer_take_effect_with_it(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    await shop.report("customer.subscription.created", shop.subscription(customer="cus_1"))
    parked = shop.outcome(SUBSCRIPTION)

    await buyer.post(CHECKOUT, shop.purchase())

    assert provider.made("customer")[0]["id"] == "cus_1"
    assert parked == "parked"
    assert shop.state() == ("pro", "active")


async def test_a_customer_of_the_sandbox_is_not_used_at_the_provider(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    shop.bind_customer("cus_sandbox_1", mode="sandbox")

    answer: Answer = await buyer.post(CHECKOUT, shop.purchase())

    assert answer.status == 200
    assert provider.made("checkout.session")[0]["form"]["customer"] == provider.made("customer")[0]["id"]


async def test_a_cookie_of_the_provider_is_not_kept(
    shop: Seller, buyer: SignedInUser, provider: PaymentProvider
) -> None:
    provider.misbehave(503, {}, headers={"Set-Cookie": "a=1; Path=/"}, times=2)

    assert (await buyer.post(CHECKOUT, shop.purchase())).status == 200

    assert len(provider.requests) == 4
    assert [request for request in provider.requests if "Cookie" in request.headers] == []
