"""The tab of a service with the sign-ins to it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

from core.audit.sign_in_counts import count_next
from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

TAB = f"{CONSOLE}/shop/sign-ins"


async def test_the_sign_ins_of_a_service_stay_within_its_tabs(
    world: World, team: Team, visitor: Visitor, transact: Callable[..., Any]
) -> None:
    transact(count_next, 10)
    team.add("ann", "admin")
    team.add("cid", "member")
    team.custom_role("builder", "services.manage")
    team.add("dan", "builder")
    shop_of(world, team)
    await world.log_in("cid@example.com", org_slug="acme", service_slug="shop")
    await world.log_in("cid@example.com", "wrong", org_slug="acme", service_slug="shop")
    await world.log_in("ann@example.com", org_slug="acme")
    transact(count_next, 10)
    await visitor.sign_in("ann@example.com")

    page = await visitor.open(TAB)
    refused = await visitor.open(f"{TAB}?outcome=refused")
    file = await visitor.open(f"{TAB}/sign-ins.csv")
    builder = Visitor(world.client)
    await builder.sign_in("dan@example.com")

    assert f'href="{TAB}" aria-current="page">Sign-ins</a>' in page.text
    assert f'href="{CONSOLE}/shop">Connect</a>' in page.text
    assert f'action="{TAB}"' in page.text
    assert 'name="service"' not in page.text
    assert (page.text.count('role="rowheader"'), refused.text.count('role="rowheader"')) == (2, 1)
    assert {row["person"] for row in csv.DictReader(file.text.splitlines())} == {"cid@example.com"}
    assert (await visitor.open(f"{CONSOLE}/none/sign-ins")).status == 404
    assert (await builder.open(TAB)).status == 403
    assert f'href="{TAB}"' not in (await builder.open(f"{CONSOLE}/shop")).text
