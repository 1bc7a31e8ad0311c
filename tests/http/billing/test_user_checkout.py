"""End users buy through their service, as customers of their own."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.payment_provider import PaymentProvider
from tests.world.backend import Backend, insert_key
from tests.world.billing import Seller
from tests.world.world import assert_refused

KEY = f"sk_abc123_{'k' * 43}"
OTHER_KEY = f"sk_def456_{'k' * 43}"
BOB = "bob@example.com"
RETURN = {"return_url": "https://app.example.com/account"}
NOBODY = "0191d3c1-0000-7000-8000-00000000000f"


@pytest.fixture
def backend(shop: Seller) -> Backend:
    """The backend of the service of the seller."""
    insert_key(shop.world, shop.organization_id, shop.service.id, KEY)
    return Backend(shop.world, shop.organization_id, shop.service.id, KEY)


async def start(backend: Backend, shop: Seller, user_id: object, plan: str = "pro", **changes: Any) -> Answer:
    return await backend.request("POST", f"/users/{user_id}/checkout", body=shop.purchase(plan, **changes))


def metadata(shop: Seller, user_id: UUID) -> dict[str, str]:
    return shop.metadata | {"user_id": str(user_id)}


class TestCheckout:
    """Starting to buy."""

    async def test_it_answers_a_page_for_a_customer_of_the_user_s_own(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)

        answer = await start(backend, shop, bob)

        assert answer.status == 200, answer.text
        [customer], [session] = provider.made("customer"), provider.made("checkout.session")
        assert answer.json == {"checkout_url": session["url"], "session_id": session["id"]}
        assert customer["form"] == {
            "name": BOB,
            "email": BOB,
            "metadata[user_id]": str(bob),
            "metadata[service_id]": str(shop.service.id),
        }
        assert session["form"]["customer"] == customer["id"]
        for name, value in metadata(shop, bob).items():
            assert session["form"][f"metadata[{name}]"] == value
            assert session["form"][f"subscription_data[metadata][{name}]"] == value

    async def test_the_customer_is_made_once_and_is_never_the_organization_s(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        member = await shop.buyer()

        answers = await at_once(*[lambda plan=plan: start(backend, shop, bob, plan) for plan in ("pro", "team", "pro")])
        await member.post("/api/organizations/acme/services/shop/checkout", shop.purchase())
        await start(backend, shop, backend.user("cleo@example.com"))

        assert statuses_of(answers) == [200] * 3
        assert [customer["form"].get("email") for customer in provider.made("customer")] == [
            BOB,
            None,
            "cleo@example.com",
        ]
        assert len({session["form"]["customer"] for session in provider.made("checkout.session")}) == 3

    async def test_another_service_has_another_customer(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        blog = shop.world.service(shop.organization_id, "blog")
        plan_id = shop.world.plan(shop.organization_id, blog.id, "Pro", billing_price_id="price_blog")
        insert_key(shop.world, shop.organization_id, blog.id, OTHER_KEY)
        shop.world.link(shop.organization_id, blog.id, bob)
        await start(backend, shop, bob)

        other = await start(backend.with_key(OTHER_KEY), shop, bob, plan_id=str(plan_id))
        sibling = await start(backend, shop, bob, plan_id=str(plan_id))

        assert other.status == 200, other.text
        assert len(provider.made("customer")) == 2
        assert_refused(sibling, 403, "FORBIDDEN")

    async def test_a_deleted_customer_is_replaced(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        await start(backend, shop, bob)
        shop.world.connection.execute("UPDATE billing_customers SET deleted_at = now()")

        await start(backend, shop, bob)

        assert len(provider.made("customer")) == 2

    async def test_what_cannot_be_bought_is_refused(self, shop: Seller, backend: Backend) -> None:
        bob, stranger = backend.user(BOB), shop.world.user("stranger@example.com")
        globex = shop.world.organization("globex")
        foreign = shop.world.plan(globex, shop.world.service(globex).id, "Pro", billing_price_id="price_globex")
        insert_key(shop.world, shop.organization_id, shop.service.id, OTHER_KEY, permissions=["read:subscriptions"])

        assert_refused(await start(backend, shop, stranger), 404, "NOT_FOUND")
        assert_refused(await start(backend, shop, NOBODY), 404, "NOT_FOUND")
        assert_refused(await start(backend, shop, bob, plan_id=NOBODY), 404, "NOT_FOUND")
        assert_refused(await start(backend, shop, bob, plan_id=str(foreign)), 404, "NOT_FOUND")
        assert_refused(await start(backend, shop, bob, "free"), 400, "BAD_REQUEST")
        assert_refused(await start(backend.with_key(OTHER_KEY), shop, bob), 403, "FORBIDDEN")
        invalid = await start(backend, shop, bob, success_url="x", cancel_url="y")
        assert [detail["field"] for detail in invalid.json["details"]] == ["success_url", "cancel_url"]

    async def test_a_provider_that_refuses_leaves_nothing(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        assert (await start(backend, shop, bob)).status == 200
        shop.world.connection.execute("DELETE FROM billing_customers")

        # The key of the customer is the same, and the provider answers it with the same customer.
        assert (await start(backend, shop, bob)).status == 200
        assert len(provider.made("customer")) == 1


class TestPaying:
    """What the events of such a purchase change."""

    async def test_the_user_has_the_subscription_and_no_second_one(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        await start(backend, shop, bob)
        [customer] = provider.made("customer")
        subscription = shop.subscription(customer=customer["id"], metadata=metadata(shop, bob))

        await shop.report("customer.subscription.created", subscription)

        [(user_id, plan, status, _)] = shop.subscriptions()
        assert (user_id, plan, status) == (bob, "pro", "active")
        assert_refused(await start(backend, shop, bob), 409, "CONFLICT")

    async def test_an_event_of_the_customer_binds_no_organization(self, shop: Seller, backend: Backend) -> None:
        bob = backend.user(BOB)
        organization = {"org_id": str(shop.organization_id)}
        customer = {"id": "cus_bob", "object": "customer", "metadata": organization | {"user_id": str(bob)}}

        await shop.report("customer.created", customer)

        assert shop.world.rows("SELECT organization_id, user_id FROM billing_customers") == [(None, None)]

    async def test_a_later_event_does_not_make_it_the_organization_s(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        await start(backend, shop, bob)
        [made] = provider.made("customer")
        customer = {"id": made["id"], "object": "customer", "metadata": {"org_id": str(shop.organization_id)}}

        await shop.report("customer.created", customer)

        assert shop.world.rows("SELECT organization_id, user_id FROM billing_customers") == [(None, bob)]

    async def test_the_customer_of_one_user_buys_nothing_for_another(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob, cleo = backend.user(BOB), backend.user("cleo@example.com")
        await start(backend, shop, bob)
        [customer] = provider.made("customer")

        for user_id in (cleo, shop.buyer_id):
            subscription = shop.subscription(
                id=f"sub_{user_id}", customer=customer["id"], metadata=metadata(shop, user_id)
            )
            await shop.report("customer.subscription.created", subscription)

        assert shop.subscriptions() == []


class TestPortal:
    """The portal of the user's own customer."""

    async def test_it_is_that_customer_s(self, shop: Seller, backend: Backend, provider: PaymentProvider) -> None:
        bob = backend.user(BOB)
        await start(backend, shop, bob)
        [customer] = provider.made("customer")

        answer = await backend.request("POST", f"/users/{bob}/portal", body=RETURN)

        assert answer.status == 200, answer.text
        [portal] = provider.made("billing_portal.session")
        assert portal["form"] == {"customer": customer["id"], **RETURN}
        assert answer.json == {"portal_url": portal["url"]}
        [(actor, details)] = shop.world.audit_entries("billing.portal_opened", "actor_user_id", "details")
        assert (actor, details["user_id"]) == (None, str(bob))

    async def test_without_a_customer_it_is_404(self, shop: Seller, backend: Backend) -> None:
        bob = backend.user(BOB)
        shop.bind_customer(mode="test")

        for user_id in (bob, shop.buyer_id, NOBODY):
            answer = await backend.request("POST", f"/users/{user_id}/portal", body=RETURN)
            assert_refused(answer, 404, "NOT_FOUND")
        invalid = await backend.request("POST", f"/users/{bob}/portal", body={"return_url": "x"})
        assert [detail["field"] for detail in invalid.json["details"]] == ["return_url"]

    async def test_the_portal_of_the_organization_is_another(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        await start(backend, shop, backend.user(BOB))
        owner = await shop.world.signed_in_member(shop.organization_id, email="owner@example.com")

        answer = await owner.post("/api/organizations/acme/billing/portal", RETURN)

        assert answer.status == 200, answer.text
        [bobs, acmes] = provider.made("customer")
        [portal] = provider.made("billing_portal.session")
        assert portal["form"]["customer"] == acmes["id"] != bobs["id"]

    async def test_a_name_and_an_address_at_the_provider_are_forgotten_with_the_account(
        self, shop: Seller, backend: Backend, provider: PaymentProvider
    ) -> None:
        bob = backend.user(BOB)
        await start(backend, shop, bob)
        [made] = provider.made("customer")
        customer = {"id": made["id"], "object": "customer", "name": "Bob", "email": "other@example.com"}
        await shop.report("customer.updated", customer)
        root = await shop.world.signed_in_platform_owner()

        assert (await root.delete(f"/api/privacy/forget/{bob}")).status == 200

        assert shop.world.rows("SELECT name, email FROM billing_customers") == [(None, None)]
