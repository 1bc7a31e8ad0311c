"""The tiers of the platform (operations 2.3 and 4.6, decisions 5.3)."""

from __future__ import annotations

from tests.world.builder import TIERS
from tests.world.world import World, assert_refused

PATH = "/api/platform/tiers"


async def test_the_tiers_are_free_professional_and_enterprise_with_their_limits(world: World) -> None:
    answer = await (await world.signed_in_platform_owner()).get(PATH)

    assert answer.status == 200
    assert answer.json == [
        {
            "id": str(TIERS[name]),
            "name": name,
            "display_name": name.title(),
            "default_max_services": max_services,
            "default_max_users": max_users,
            "price_cents": price_cents,
        }
        for name, max_services, max_users, price_cents in [
            ("free", 3, 100, 0),
            ("professional", 10, 1000, 4900),
            ("enterprise", None, None, 0),
        ]
    ]


async def test_only_a_platform_owner_lists_them(world: World) -> None:
    ada = await world.signed_in_member(world.organization())

    assert_refused(await ada.get(PATH), 403, "FORBIDDEN")
    assert_refused(await world.client.get(PATH), 401, "UNAUTHORIZED")
