"""The page of the revenue of the platform's organizations."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from core.services import sales
from tests.world.callers import Callers
from tests.world.visitor import Visitor

PAGE = "/app/platform/revenue"


async def test_owners_and_support_see_who_sells_most_page_by_page(
    callers: Callers, platform_owner: Visitor, support: Visitor, transact: Callable[..., Any]
) -> None:
    world = callers.world
    for number in range(30):
        organization_id = world.organization(f"seller-{number:02}", name=f"<b>Seller {number:02}</b>")
        plan = world.plan(organization_id, world.service(organization_id).id)
        world.rows("UPDATE plans SET price_cents = %s WHERE id = %s RETURNING id", 100 * number, plan)
        world.subscription(plan, world.user(f"buyer{number}@example.com"))
    while transact(sales.add_up, 50):
        pass

    for reader in (platform_owner, support):
        first = (await reader.open(f"{PAGE}?currency=USD")).text
        [link] = re.findall(r'href="([^"]+after=[^"]+)"', first)
        second = (await reader.open(unescape(link))).text
        listed = [re.findall(r"Seller (\d\d)", text) for text in (first, second)]
        assert listed[0][:3] == ["29", "28", "27"]
        assert len(listed[0]) == 25
        assert set(listed[1]) == {"00", "01", "02", "03", "04"}
        assert "435.00 USD" in first
        assert "<b>Seller" not in first


async def test_odd_values_are_no_failure_and_nothing_sold_is_said(callers: Callers, platform_owner: Visitor) -> None:
    for query in ("", "?currency=%3Cb", "?after=x", "?after=-1_x", "?currency=eur&after=999999999999999999_x"):
        answer = await platform_owner.open(f"{PAGE}{query}")
        assert answer.status == 200
    assert f'href="{PAGE}"' in (await platform_owner.open("/app/platform")).text
