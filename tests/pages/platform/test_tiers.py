"""The page of the tiers."""

from __future__ import annotations

import re
from html import unescape

from tests.world.builder import TIERS
from tests.world.callers import Callers
from tests.world.visitor import Visitor

TIERS_PAGE = "/app/platform/tiers"


async def test_owners_and_support_see_the_limits_of_each_tier_and_support_which_sections_are_closed(
    platform_owner: Visitor, support: Visitor
) -> None:
    of_owner, of_support = [(await reader.open(TIERS_PAGE)).text for reader in (platform_owner, support)]

    for text in (of_owner, of_support):
        assert "<code>free</code>" in text
        assert "no limit" in text
        assert "/api/platform/tiers" in text
    assert 'href="/app/platform/owners"' in of_owner
    assert 'href="/app/platform/owners"' not in of_support
    assert "(platform owners only)" in of_support.partition('class="closed-sections"')[2].partition("</details>")[0]


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


async def test_an_owner_creates_changes_and_deletes_a_tier(callers: Callers, platform_owner: Visitor) -> None:
    made = await platform_owner.submit(
        await platform_owner.open(TIERS_PAGE),
        TIERS_PAGE,
        {"display_name": "Gold Plus", "max_services": "", "max_users": " 50 ", "price": "49,5"},
    )
    assert "The tier is created." in made.text
    [(tier_id, *stored)] = callers.world.rows(
        "SELECT id, display_name, default_max_services, default_max_users, price_cents FROM tiers WHERE name = %s",
        "gold-plus",
    )
    assert stored == ["Gold Plus", None, 50, 4950]
    page = f"{TIERS_PAGE}/{tier_id}"
    assert f'href="{page}"' in (await platform_owner.open(TIERS_PAGE)).text

    saved = await platform_owner.submit(
        await platform_owner.open(page),
        page,
        {"display_name": "Gold", "max_services": "7", "max_users": "", "price": ""},
    )
    assert "The tier is saved." in saved.text
    assert callers.world.rows(
        "SELECT display_name, default_max_services, default_max_users, price_cents FROM tiers WHERE id = %s", tier_id
    ) == [("Gold", 7, None, 0)]

    deletion = f"{page}/delete"
    asked = await platform_owner.open(deletion)
    assert "No organization has this tier" in asked.text
    assert "The tier is deleted." in (await platform_owner.submit(asked, deletion, {})).text
    assert (await platform_owner.open(page)).status == 404


async def test_what_is_no_tier_is_said_at_its_fields_and_kept(platform_owner: Visitor) -> None:
    refused = await platform_owner.submit(
        await platform_owner.open(TIERS_PAGE),
        TIERS_PAGE,
        {"display_name": "Odd one", "max_services": "1e3", "max_users": "1000001", "price": "-1"},
    )

    assert refused.status == 400
    assert '<details class="creating" id="new" open>' in refused.text
    assert 'value="Odd one"' in refused.text
    for field in ("max_services", "max_users", "price"):
        assert f'id="{field}-problem"' in refused.text

    taken = await platform_owner.submit(
        await platform_owner.open(TIERS_PAGE), TIERS_PAGE, {"display_name": "Free again", "name": "free"}
    )
    assert (taken.status, "Another tier has this name." in taken.text) == (409, True)


async def test_a_tier_that_another_owner_has_changed_is_not_overwritten(
    callers: Callers, platform_owner: Visitor
) -> None:
    page = f"{TIERS_PAGE}/{TIERS['professional']}"
    shown = await platform_owner.open(page)
    asked = await platform_owner.open(f"{page}/delete")
    callers.world.rows("UPDATE tiers SET price_cents = 1 WHERE id = %s RETURNING id", TIERS["professional"])

    refused = await platform_owner.submit(shown, page, {"display_name": "Mine"})

    assert (refused.status, "Another person has changed this tier meanwhile." in refused.text) == (409, True)
    assert 'value="Mine"' in refused.text
    assert (await platform_owner.submit(asked, f"{page}/delete", {})).status == 409


async def test_the_deletion_of_a_tier_in_use_says_who_has_it(callers: Callers, platform_owner: Visitor) -> None:
    page = f"{TIERS_PAGE}/{TIERS['enterprise']}"
    asked = await platform_owner.open(f"{page}/delete")
    callers.world.rows("UPDATE organizations SET tier_id = %s RETURNING id", TIERS["enterprise"])

    refused = await platform_owner.submit(asked, f"{page}/delete", {})

    assert (refused.status, "This tier is in use" in refused.text) == (409, True)
    assert f'href="/app/platform/organizations?tier={TIERS["enterprise"]}"' in refused.text
    assert "it cannot be deleted" in (await platform_owner.open(f"{TIERS_PAGE}/{TIERS['free']}/delete")).text


async def test_support_sees_a_tier_and_does_not_change_it(support: Visitor) -> None:
    page = f"{TIERS_PAGE}/{TIERS['free']}"
    shown = (await support.open(page)).text

    assert "New organizations begin here" in shown
    assert "Only platform owners create, change and delete tiers." in shown
    assert f'action="{page}"' not in shown
    assert f'action="{TIERS_PAGE}"' not in (await support.open(TIERS_PAGE)).text
    assert (await support.open(f"{page}/delete")).status == 403
