"""Why a service got an error instead of a code, as the helpers of its users read it."""

from __future__ import annotations

from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World


async def test_a_user_who_declines_or_would_have_to_be_asked(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    root = await world.signed_in_platform_owner()
    user_id = world.user_id(EMAIL)
    await visitor.sign_in()

    led_back(await visitor.send("GET", address_of(shop, prompt="none")))
    led_back(await visitor.submit(await visitor.open(address_of(shop)), "/auth/authorize/deny"))
    led_back(await visitor.send("GET", address_of(shop, prompt="none", max_age="0")))

    answer = await root.get(f"/api/platform/users/{user_id}/sign-ins")
    shown = [(one["reason"], (one["service"] or {}).get("slug")) for one in answer.json["sign_ins"]]
    assert shown == [
        ("interaction_required", "shop"),
        ("consent_refused", "shop"),
        ("interaction_required", "shop"),
        (None, None),
    ]


async def test_a_user_who_has_to_set_up_a_second_factor_first(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    user_id = world.user_id(EMAIL)
    world.member(shop.organization_id, user_id)
    owner = await world.signed_in_member(shop.organization_id, email="owner@example.com")
    await visitor.sign_in()
    world.connection.execute("UPDATE organizations SET mfa_required = true")

    await visitor.send("GET", address_of(shop))

    world.connection.execute("UPDATE organizations SET mfa_required = false")
    [shown] = (await owner.get(f"/api/organizations/acme/users/{user_id}/sign-ins")).json["sign_ins"]
    assert (shown["outcome"], shown["reason"]) == ("refused", "second_factor_required")
