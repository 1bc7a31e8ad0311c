"""Refused sign-ins for a customer: which are recorded for it, and who may read them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.world.backend import Backend
from tests.world.customer_backend import CustomerBackend
from tests.world.second_factors import Person
from tests.world.trade import Trade
from tests.world.visitor import Visitor
from tests.world.world import assert_refused


@pytest.fixture
def shop(trade: Trade) -> CustomerBackend:
    """The service of the vendor, with people who sign in for the customer."""
    return CustomerBackend(trade, Backend(trade.world, trade.vendor.organization_id, trade.service.id))


@pytest.fixture
async def customer_id(shop: CustomerBackend) -> UUID:
    """A customer of the service, all of whose members may use it."""
    return UUID(await shop.trade.begin())


def recorded(shop: CustomerBackend) -> list[tuple[str, UUID | None, UUID | None]]:
    """Return the reason, the customer and the second organization of the refused sign-ins to the service, in order."""
    return shop.trade.world.rows(
        """
        SELECT   reason, customer_id, through_organization_id
        FROM     login_events
        WHERE    NOT success AND service_id = %s
        ORDER BY id
        """,
        shop.trade.service.id,
    )


async def seen_by(shop: CustomerBackend, team: str, name: str) -> list[tuple[str, str | None]]:
    """Return the reasons of the sign-ins of a person as an organization lists them, with the slug of the customer."""
    asking = {"vendor": (shop.trade.vendor, "owner"), "customer": (shop.trade.customer, "head")}
    organization, by = asking[team]
    listed = await organization.request(by, "GET", f"/users/{shop.id_of(name)}/sign-ins")
    assert listed.status == 200, listed.text
    return [
        (one["reason"], one["customer"]["slug"] if one["customer"] else None)
        for one in listed.json["sign_ins"]
        if one["outcome"] != "success" and one["service"] is not None
    ]


async def close(shop: CustomerBackend) -> None:
    """End the access of the customer's people."""
    await shop.trade.change_product(access="assigned", assignments=[])


class TestRecording:
    async def test_a_person_whom_the_customer_lets_in_no_longer(self, shop: CustomerBackend, customer_id: UUID) -> None:
        await shop.sign_in("worker")
        await close(shop)

        for named in ("beta", str(customer_id)):
            assert_refused(await shop.sign_in("worker", customer=named), 403, "FORBIDDEN")

        of_customer = ("customer_closed", customer_id, shop.trade.customer.organization_id)
        assert recorded(shop) == [of_customer, of_customer]
        assert await seen_by(shop, "customer", "worker") == [("customer_closed", "beta")] * 2

    async def test_a_paused_customer_and_a_suspended_member(self, shop: CustomerBackend, customer_id: UUID) -> None:
        await shop.trade.change_product(paused=True)
        await shop.sign_in("worker")
        await shop.trade.change_product(paused=False)
        shop.suspend("worker")
        await shop.sign_in("worker")

        assert [(reason, customer) for reason, customer, _ in recorded(shop)] == [("customer_closed", customer_id)] * 2

    async def test_a_wrong_password_is_recorded_for_no_customer(self, shop: CustomerBackend, customer_id: UUID) -> None:
        await shop.sign_in("worker")
        for password in ("wrong password", "another one"):
            await shop.trade.world.log_in(
                "worker@example.com", password, org_slug="acme", service_slug="shop", customer=str(customer_id)
            )

        rows = shop.trade.world.rows("SELECT customer_id, through_organization_id FROM login_events WHERE NOT success")
        assert rows == [(None, None)] * 2

    async def test_who_is_no_confirmed_member_and_an_unknown_customer_are_recorded_alike(
        self, shop: CustomerBackend, customer_id: UUID
    ) -> None:
        shop.add_unconfirmed("guest")
        await close(shop)
        shop.trade.world.team("gamma")

        for email, named in (
            ("guest@example.com", str(customer_id)),
            ("member@example.com", "beta"),
            ("worker@example.com", "gamma"),
            ("worker@example.com", "nowhere"),
            ("worker@example.com", "0191d3c1-0000-7000-8000-000000000000"),
        ):
            refused = await shop.trade.world.log_in(email, org_slug="acme", service_slug="shop", customer=named)
            assert_refused(refused, 403, "FORBIDDEN")

        assert recorded(shop) == [("customer_closed", None, None)] * 5

    async def test_the_customer_of_another_vendor_is_not_recorded(
        self, shop: CustomerBackend, customer_id: UUID
    ) -> None:
        world = shop.trade.world
        other = world.service(shop.trade.vendor.organization_id, "blog")
        world.serve_customers(other)

        refused = await world.log_in(
            "worker@example.com", org_slug="acme", service_slug="blog", customer=str(customer_id)
        )

        assert_refused(refused, 403, "FORBIDDEN")
        assert world.rows("SELECT customer_id FROM login_events WHERE NOT success") == [(None,)]

    async def test_the_only_customer_needs_no_name(self, shop: CustomerBackend, customer_id: UUID) -> None:
        world = shop.trade.world
        await shop.sign_in("worker")
        world.connection.execute("UPDATE organizations SET mfa_required = true WHERE slug = 'beta'")

        refused = await world.log_in("worker@example.com", org_slug="acme", service_slug="shop")

        assert_refused(refused, 403, "FORBIDDEN")
        of_customer = (customer_id, shop.trade.customer.organization_id)
        assert recorded(shop) == [("second_factor_required", *of_customer)]

    async def test_wrong_codes_stay_with_the_customer_until_the_right_one(
        self, shop: CustomerBackend, customer_id: UUID
    ) -> None:
        await shop.sign_in("worker")
        person = Person(shop.trade.world, shop.id_of("worker"), "worker@example.com")
        await person.sign_in()
        await person.turn_mfa_on()
        person.next_step()
        # Without a name, so that the refusal of a code does not name the customer.
        token = await person.preauth_token(org_slug="acme", service_slug="shop")

        await person.verify(token, person.wrong_code())
        waiting = recorded(shop)
        done = await person.verify(token, person.code())

        of_customer = (customer_id, shop.trade.customer.organization_id)
        assert waiting == [("wrong_code", *of_customer)]
        assert done.status == 200
        assert recorded(shop) == []


class TestSight:
    async def test_a_refusal_tells_the_vendor_nothing_of_an_end_user_whom_the_customer_has_not_shown(
        self, shop: CustomerBackend, customer_id: UUID
    ) -> None:
        world = shop.trade.world
        shop.trade.set_policy("listed", "all")
        await alone(shop, "worker")
        await close(shop)
        await shop.sign_in("worker")
        world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (shop.id_of("worker"),))
        before = await seen_by(shop, "vendor", "worker")
        world.member(shop.trade.customer.organization_id, shop.id_of("worker"))
        await shop.sign_in("worker")

        assert before == [("customer_closed", None)]
        assert await seen_by(shop, "vendor", "worker") == [("customer_closed", None)] * 2
        assert [customer for _, customer, _ in recorded(shop)] == [customer_id] * 2

    async def test_the_vendor_reads_the_customer_of_those_who_had_signed_in_for_it(
        self, shop: CustomerBackend, customer_id: UUID
    ) -> None:
        shop.trade.set_policy("listed", "all")
        await alone(shop, "worker")
        assert (await shop.sign_in("worker", customer=str(customer_id))).status == 200
        await close(shop)
        await shop.sign_in("worker")

        assert await seen_by(shop, "vendor", "worker") == [("customer_closed", "beta")]
        assert await seen_by(shop, "customer", "worker") == [("customer_closed", "beta")]

    async def test_a_person_reads_their_own(self, shop: CustomerBackend, customer_id: UUID) -> None:
        await close(shop)
        await shop.sign_in("worker")
        visitor = Visitor(shop.trade.world.client)
        await visitor.sign_in("worker@example.com")

        page = await visitor.open("/app/account/sign-ins")

        assert "The application was not open to you for that customer." in page.text
        assert "For the organization Beta" in page.text


async def alone(shop: CustomerBackend, name: str) -> None:
    """Let a person use the service as an individual, so that they are an end user of the vendor."""
    answer: Answer = await shop.trade.world.log_in(
        f"{name}@example.com", org_slug="acme", service_slug="shop", customer=""
    )
    body: dict[str, Any] = answer.json
    assert answer.status == 200, body
