"""The page of the tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    assert "(platform owners only)" in text


async def test_the_number_of_organizations_of_a_tier_leads_to_their_list(platform_owner: Visitor) -> None:
    text = (await platform_owner.open("/app/platform/tiers")).text

    # Those of the callers.
    assert '<a href="/app/platform/organizations?tier=free">2<' in text
    assert '<a href="/app/platform/organizations?tier=enterprise">0<' in text
