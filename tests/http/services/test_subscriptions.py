"""What a subscription to a service puts into tokens, and what its user sees of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.services.plans import FEATURES_JSON_CHARACTERS_MAX
from tests.clock import SettableClock
from tests.statements import recorded_statements
from tests.world.acme_shop import AcmeShop
from tests.world.signing_in import Tokens, claims_of
from tests.world.world import World, assert_refused

PATH = "/api/subscription"


@pytest.fixture
def pro(world: World, acme_shop: AcmeShop) -> UUID:
    """A plan with features."""
    return world.plan(acme_shop.organization_id, acme_shop.service_id, features=["reports", "exports"])


@pytest.fixture
def ada(world: World) -> UUID:
    """A user."""
    return world.user()


async def sign_in(world: World) -> Tokens:
    return await world.sign_in(org_slug="acme", service_slug="shop")


def plan_claims(token: str) -> tuple[Any, ...]:
    claims = claims_of(token)
    return tuple(claims.get(name) for name in ("plan", "subscription_status", "features"))


async def subscription(world: World, tokens: Tokens) -> Any:
    answer = await world.client.get(PATH, token=tokens.access_token)
    assert answer.status == 200, answer.text
    return answer.json


async def test_without_a_subscription_the_default_plan_holds(world: World, acme_shop: AcmeShop, ada: UUID) -> None:
    default_id = world.value("SELECT id FROM plans")

    tokens = await sign_in(world)

    assert plan_claims(tokens.access_token) == ("Free", "active", [])
    assert await subscription(world, tokens) == {
        "service": acme_shop.service_slug,
        "plan": "Free",
        "plan_id": str(default_id),
        "features": [],
        "status": "active",
        "current_period_end": None,
    }


async def test_a_subscription_is_in_the_tokens_from_the_next_refresh_on(
    world: World, pro: UUID, ada: UUID, clock: SettableClock
) -> None:
    tokens = await sign_in(world)
    world.subscription(pro, ada, "past_due")

    refreshed = await world.refresh(tokens.refresh_token)

    assert plan_claims(refreshed.json["access_token"]) == ("Pro", "past_due", ["reports", "exports"])
    assert await subscription(world, tokens) == {
        "service": "shop",
        "plan": "Pro",
        "plan_id": str(pro),
        "features": ["reports", "exports"],
        "status": "past_due",
        "current_period_end": (clock.now + timedelta(days=30)).isoformat().replace("+00:00", "Z"),
    }


async def test_the_profile_shows_plan_and_features(world: World, pro: UUID, ada: UUID) -> None:
    world.subscription(pro, ada)

    profile = (await world.client.get("/api/user", token=(await sign_in(world)).access_token)).json

    assert (profile["plan"], profile["features"]) == ("Pro", ["reports", "exports"])


@pytest.mark.parametrize("status", ["cancelled", "expired"])
async def test_a_subscription_that_has_ended_is_shown_with_the_features_of_the_default_plan(
    world: World, pro: UUID, ada: UUID, status: str
) -> None:
    world.connection.execute("UPDATE plans SET features = '{basics}' WHERE is_default")
    world.subscription(pro, ada, status)

    tokens = await sign_in(world)

    assert plan_claims(tokens.access_token) == ("Pro", status, ["basics"])
    assert (await subscription(world, tokens))["status"] == status


async def test_the_live_subscription_counts_rather_than_a_newer_one_that_has_ended(
    world: World, acme_shop: AcmeShop, pro: UUID, ada: UUID, clock: SettableClock
) -> None:
    world.subscription(pro, ada)
    clock.now += timedelta(days=1)
    world.subscription(world.plan(acme_shop.organization_id, acme_shop.service_id, "Gold"), ada, "expired")

    assert (await subscription(world, await sign_in(world)))["plan"] == "Pro"


async def test_a_subscription_to_another_service_does_not_count(world: World, acme_shop: AcmeShop, ada: UUID) -> None:
    till = world.service(acme_shop.organization_id, "till")
    world.subscription(world.plan(acme_shop.organization_id, till.id, "Gold"), ada)

    assert (await subscription(world, await sign_in(world)))["plan"] == "Free"


@pytest.mark.parametrize("is_in_organization", [False, True])
async def test_outside_a_service_there_is_no_subscription(
    world: World, acme_shop: AcmeShop, ada: UUID, is_in_organization: bool
) -> None:
    world.member(acme_shop.organization_id, ada)
    tokens = await (world.sign_in(org_slug="acme") if is_in_organization else world.sign_in())

    assert_refused(await world.client.get(PATH, token=tokens.access_token), 400, "BAD_REQUEST")
    assert plan_claims(tokens.access_token) == (None, None, None)


async def test_a_user_who_no_longer_uses_the_service_is_refused(world: World, acme_shop: AcmeShop, ada: UUID) -> None:
    tokens = await sign_in(world)
    world.connection.execute("DELETE FROM service_users")

    assert_refused(await world.client.get(PATH, token=tokens.access_token), 403, "FORBIDDEN")


async def test_it_is_read_with_the_caller_in_one_statement(world: World, pro: UUID, ada: UUID) -> None:
    world.subscription(pro, ada)
    tokens = await sign_in(world)

    with recorded_statements() as statements:
        await subscription(world, tokens)

    assert len(statements) == 1


async def test_a_token_with_the_longest_address_and_the_most_features_is_accepted(
    world: World, acme_shop: AcmeShop
) -> None:
    email = f"{'é' * 64}@{'.'.join(['b' * 60] * 3)}.com"
    features = ["é" * 99 for _ in range(FEATURES_JSON_CHARACTERS_MAX // 600)]
    plan_id = world.plan(acme_shop.organization_id, acme_shop.service_id, "é" * 100, features=features)
    world.subscription(plan_id, world.user(email))

    tokens = await world.sign_in(email, org_slug="acme", service_slug="shop")

    assert (await world.client.get("/api/user", token=tokens.access_token)).status == 200


async def test_while_the_organization_is_suspended_its_token_shows_none(
    world: World, acme_shop: AcmeShop, ada: UUID
) -> None:
    tokens = await sign_in(world)
    world.set_organization_status(acme_shop.organization_id, "suspended")

    answer = await world.client.get(PATH, token=tokens.access_token)

    assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")
    world.set_organization_status(acme_shop.organization_id, "active")
    assert (await subscription(world, tokens))["service"] == acme_shop.service_slug
