"""The plans of a service."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from core.limits import PRICE_CENTS_MAX
from core.services.plans import FEATURES_MAX, PLANS_MAX
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.builder import NO_ID
from tests.world.team import Team
from tests.world.world import assert_refused

PLANS = "/services/shop/plans"
PRO = {"name": "Pro", "price_cents": 990}


@pytest.fixture
def service_id(team: Team) -> UUID:
    """The id of a service of the team."""
    return team.world.service(team.organization_id).id


@pytest.fixture
def shop(team: Team, service_id: UUID) -> Team:
    """The team with its service."""
    return team


async def create(shop: Team, *, by: str = "owner", **fields: Any) -> Answer:
    return await shop.request(by, "POST", PLANS, body=PRO | fields)


async def listed(shop: Team, *, by: str = "owner") -> list[dict[str, Any]]:
    answer = await shop.request(by, "GET", PLANS)
    assert answer.status == 200, answer.text
    return answer.json


async def default_id(shop: Team) -> str:
    [plan] = [plan for plan in await listed(shop) if plan["is_default"]]
    return plan["id"]


class TestCreate:
    """POST /api/organizations/:org_slug/services/:service_slug/plans."""

    async def test_a_plan_has_the_fields_of_the_document(
        self, shop: Team, service_id: UUID, clock: SettableClock
    ) -> None:
        answer = await create(
            shop, currency="eur", features=["reports", "exports", "reports"], billing_price_id="price_1"
        )

        assert answer.status == 200, answer.text
        assert answer.json == {
            "id": answer.json["id"],
            "service_id": str(service_id),
            "name": "Pro",
            "price_cents": 990,
            "currency": "eur",
            "features": ["reports", "exports"],
            "billing_price_id": "price_1",
            "is_default": False,
            "created_at": clock.now.isoformat().replace("+00:00", "Z"),
        }

    async def test_a_plan_costs_dollars_and_cannot_be_bought_unless_it_says_more(self, shop: Team) -> None:
        answer = await create(shop)

        assert (answer.json["currency"], answer.json["features"], answer.json["billing_price_id"]) == ("usd", [], None)

    async def test_an_invalid_field_is_400(self, shop: Team, subtests: pytest.Subtests) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"name": " "}, "name"),
            ({"name": "x" * 101}, "name"),
            ({"price_cents": -1}, "price_cents"),
            ({"price_cents": PRICE_CENTS_MAX + 1}, "price_cents"),
            ({"price_cents": 9.9}, "price_cents"),
            ({"currency": "USD"}, "currency"),
            ({"currency": "dollar"}, "currency"),
            ({"features": [""]}, "features"),
            ({"features": ["a\nb"]}, "features"),
            ({"features": [f"feature {number}" for number in range(FEATURES_MAX + 1)]}, "features"),
            ({"features": ["reports"] * (2 * FEATURES_MAX + 1)}, "features"),
            ({"features": [f"{number}{'é' * 50}" for number in range(10)]}, "features"),
            ({"billing_price_id": ""}, "billing_price_id"),
            ({"billing_price_id": "price 1"}, "billing_price_id"),
            ({"billing_price_id": "x" * 256}, "billing_price_id"),
        ]
        for fields, field in cases:
            with subtests.test(fields=fields, field=field):
                answer = await create(shop, **fields)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == field

    async def test_it_is_recorded_with_its_details(self, shop: Team, service_id: UUID) -> None:
        plan_id = (await create(shop)).json["id"]

        details = {
            "plan_id": plan_id,
            "plan_name": "Pro",
            "service_id": str(service_id),
            "service_slug": "shop",
            "price_cents": 990,
            "currency": "usd",
        }
        assert shop.world.audit_entries("plan.created") == [(shop.organization_id, shop.ids["owner"], plan_id, details)]
        assert shop.world.events("plan.created") == [(shop.organization_id, "owner@example.com", details)]

    async def test_a_price_of_the_provider_belongs_to_one_plan_of_the_platform(self, shop: Team) -> None:
        globex = shop.world.organization("globex")
        till = shop.world.service(globex, "till")
        shop.world.plan(globex, till.id, billing_price_id="price_1")

        assert_refused(await create(shop, billing_price_id="price_1"), 409, "CONFLICT")

    async def test_of_two_concurrent_plans_with_one_price_one_is_created(self, shop: Team) -> None:
        shop.world.service(shop.organization_id, "till")
        await shop.token("owner")

        answers = await at_once(
            *[
                partial(shop.request, "owner", "POST", path, body=PRO | {"billing_price_id": "price_1"})
                for path in (PLANS, "/services/till/plans") * 2
            ]
        )

        assert statuses_of(answers) == [200, 409, 409, 409]

    async def test_a_service_has_at_most_a_hundred_plans(self, shop: Team, service_id: UUID) -> None:
        for number in range(PLANS_MAX - 2):
            shop.world.plan(shop.organization_id, service_id, f"Plan {number}")
        await shop.token("owner")

        answers = await at_once(*[partial(create, shop)] * 3)

        assert statuses_of(answers) == [200, 400, 400]

    async def test_a_member_cannot_create_one(self, shop: Team) -> None:
        assert_refused(await create(shop, by="member"), 403, "FORBIDDEN")

    async def test_a_member_with_a_grant_to_manage_the_service_can(self, shop: Team, service_id: UUID) -> None:
        shop.world.grant(shop.organization_id, service_id, shop.ids["member"], "manager")

        assert (await create(shop, by="member")).status == 200

    async def test_an_unknown_service_is_404(self, shop: Team) -> None:
        assert_refused(await shop.request("owner", "POST", "/services/nope/plans", body=PRO), 404, "NOT_FOUND")


class TestList:
    """GET /api/organizations/:org_slug/services/:service_slug/plans."""

    async def test_members_see_the_plans_with_their_active_subscriptions(self, shop: Team, service_id: UUID) -> None:
        pro = shop.world.plan(shop.organization_id, service_id)
        for number, status in enumerate(("active", "past_due", "cancelled", "expired")):
            shop.world.subscription(pro, shop.user(f"user-{number}"), status)

        found = [
            (plan["name"], plan["is_default"], plan["subscription_count"]) for plan in await listed(shop, by="member")
        ]

        assert found == [("Free", True, 0), ("Pro", False, 2)]


class TestChange:
    """PATCH /api/organizations/:org_slug/services/:service_slug/plans/:plan_id."""

    async def test_the_named_fields_change_and_the_others_stay(self, shop: Team) -> None:
        plan = (await create(shop, features=["reports"], billing_price_id="price_1")).json

        answer = await shop.request(
            "owner", "PATCH", f"{PLANS}/{plan['id']}", body={"price_cents": 1490, "currency": "eur"}
        )

        assert (answer.status, answer.json) == (200, plan | {"price_cents": 1490, "currency": "eur"})

    async def test_null_removes_the_price_at_the_provider(self, shop: Team) -> None:
        plan = (await create(shop, billing_price_id="price_1")).json

        answer = await shop.request("owner", "PATCH", f"{PLANS}/{plan['id']}", body={"billing_price_id": None})

        assert answer.json == plan | {"billing_price_id": None}

    async def test_the_change_is_recorded_and_no_change_is_not(self, shop: Team) -> None:
        plan = (await create(shop)).json
        path = f"{PLANS}/{plan['id']}"

        for _ in range(2):
            await shop.request("owner", "PATCH", path, body={"name": "Gold", "features": ["a"]})

        [(_, actor_id, target_id, details)] = shop.world.audit_entries("plan.updated")
        assert (actor_id, target_id) == (shop.ids["owner"], plan["id"])
        assert details["changes"] == {"name": {"from": "Pro", "to": "Gold"}, "features": {"from": [], "to": ["a"]}}

    async def test_a_change_that_names_nothing_is_400(self, shop: Team) -> None:
        plan_id = (await create(shop)).json["id"]

        assert_refused(await shop.request("owner", "PATCH", f"{PLANS}/{plan_id}", body={}), 400, "BAD_REQUEST")

    async def test_a_price_of_another_plan_is_409(self, shop: Team) -> None:
        await create(shop, billing_price_id="price_1")
        plan_id = (await create(shop)).json["id"]

        answer = await shop.request("owner", "PATCH", f"{PLANS}/{plan_id}", body={"billing_price_id": "price_1"})

        assert_refused(answer, 409, "CONFLICT")

    async def test_a_plan_of_another_service_or_tenant_is_404(self, shop: Team) -> None:
        globex = shop.world.organization("globex")
        foreign = shop.world.plan(globex, shop.world.service(globex, "till").id)
        sibling = shop.world.plan(shop.organization_id, shop.world.service(shop.organization_id, "till").id)

        for plan_id in (foreign, sibling, NO_ID):
            for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
                answer = await shop.request("owner", method, f"{PLANS}/{plan_id}", body=body)
                assert_refused(answer, 404, "NOT_FOUND")
        assert shop.world.value("SELECT count(*) FROM plans WHERE name = 'Pro'") == 2


class TestDelete:
    """DELETE /api/organizations/:org_slug/services/:service_slug/plans/:plan_id."""

    async def test_a_plan_goes_with_its_ended_subscriptions(self, shop: Team, service_id: UUID) -> None:
        pro = shop.world.plan(shop.organization_id, service_id)
        shop.world.subscription(pro, shop.user("bob"), "cancelled")

        answer = await shop.request("owner", "DELETE", f"{PLANS}/{pro}")

        assert (answer.status, answer.content) == (204, b"")
        assert [plan["name"] for plan in await listed(shop)] == ["Free"]
        assert shop.world.rows("SELECT FROM subscriptions") == []
        assert [target for _, _, target, _ in shop.world.audit_entries("plan.deleted")] == [str(pro)]

    async def test_the_default_plan_stays(self, shop: Team) -> None:
        answer = await shop.request("owner", "DELETE", f"{PLANS}/{await default_id(shop)}")

        assert_refused(answer, 400, "BAD_REQUEST")

    @pytest.mark.parametrize("status", ["active", "past_due"])
    async def test_a_plan_with_an_active_subscription_stays(self, shop: Team, service_id: UUID, status: str) -> None:
        pro = shop.world.plan(shop.organization_id, service_id)
        shop.world.subscription(pro, shop.user("bob"), status)

        assert_refused(await shop.request("owner", "DELETE", f"{PLANS}/{pro}"), 400, "BAD_REQUEST")
        assert len(await listed(shop)) == 2
