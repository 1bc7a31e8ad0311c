"""The page of the tiers."""

from __future__ import annotations

import re
from html import unescape

from tests.world.builder import TIERS
from tests.world.callers import Callers
from tests.world.visitor import Visitor


async def test_owners_and_support_see_the_limits_of_each_tier(platform_owner: Visitor, support: Visitor) -> None:
    for reader in (platform_owner, support):
        text = (await reader.open("/app/platform/tiers")).text

        assert "<code>free</code>" in text
        assert "no limit" in text
        assert "/api/platform/tiers" in text


async def test_support_sees_which_sections_are_for_platform_owners(platform_owner: Visitor, support: Visitor) -> None:
    assert 'href="/app/platform/owners"' in (await platform_owner.open("/app/platform/tiers")).text
    text = (await support.open("/app/platform/tiers")).text
    assert 'href="/app/platform/owners"' not in text
    assert "(platform owners only)" in text.partition('class="closed-sections"')[2].partition("</details>")[0]


async def test_the_number_of_organizations_of_a_tier_leads_to_their_list(
    callers: Callers, platform_owner: Visitor
) -> None:
    world = callers.world
    quarry = world.organization("quarry")
    world.rows("UPDATE organizations SET tier_id = %s WHERE id = %s RETURNING id", TIERS["enterprise"], quarry)
    text = (await platform_owner.open("/app/platform/tiers")).text
    numbers = {
        tier: (unescape(link), int(number))
        for tier, link, number in re.findall(r'<code>(\w+)</code>.*?<a href="([^"]+)">(\d+)<', text, re.DOTALL)
    }

    # The two of the callers are free.
    assert {tier: number for tier, (_, number) in numbers.items() if number} == {"free": 3, "enterprise": 1}
    for link, number in numbers.values():
        listed = (await platform_owner.open(link)).text.partition("<table")[2]
        assert len(re.findall(r'href="/app/platform/organizations/[0-9a-f-]{36}"', listed)) == number
