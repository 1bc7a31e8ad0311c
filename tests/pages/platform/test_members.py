"""The page of the members of one organization, for platform owners and support."""

from __future__ import annotations

import csv
import re
from uuid import UUID

import pytest

from tests.world.callers import Callers
from tests.world.visitor import Visitor
from tests.world.world import World

FLEET = "/app/platform/organizations"


@pytest.fixture
def harbour(world: World, callers: Callers) -> UUID:
    """An organization with thirty members, one of them a platform owner."""
    harbour = world.organization("harbour", name="The Harbour")
    for number in range(29):
        world.member(harbour, world.user(f"person-{number:02}@harbour.example"), "owner" if number == 0 else "member")
    world.member(harbour, owner_of(world)[0])
    return harbour


async def test_members_are_listed_by_pages_and_lead_to_their_records(harbour: UUID, platform_owner: Visitor) -> None:
    page = f"{FLEET}/{harbour}/members"
    assert f'href="{page}"' in (await platform_owner.open(f"{FLEET}/{harbour}")).text
    shown = (await platform_owner.open(page)).text
    following = (await platform_owner.open(next_of(shown))).text

    assert "30 found" in shown
    people = re.findall(r'href="/app/platform/users/[0-9a-f-]{36}">([^<]+)<', shown + following)
    assert (len(people), people[0]) == (30, "person-00@harbour.example")
    assert f"/api/platform/organizations/{harbour}/members" in shown
    assert next_of(following) == ""


async def test_members_are_found_by_a_part_of_the_address_and_downloaded(
    harbour: UUID, platform_owner: Visitor
) -> None:
    page = f"{FLEET}/{harbour}/members"

    assert "One found" in (await platform_owner.open(f"{page}?search=ON-07@")).text
    assert "No member has this in the address." in (await platform_owner.open(f"{page}?search=%25")).text
    file = await platform_owner.open(f"{page}/members.csv?search=person-1")
    assert [row["email"] for row in csv.DictReader(file.text.splitlines())] == [
        f"person-{number}@harbour.example" for number in range(10, 20)
    ]
    assert (await platform_owner.open(f"{FLEET}/{UUID(int=0)}/members")).status == 404


async def test_support_finds_no_platform_owner_and_downloads_nothing(
    callers: Callers, harbour: UUID, support: Visitor
) -> None:
    page = f"{FLEET}/{harbour}/members"
    _, owner = owner_of(callers.world)
    shown = (await support.open(page)).text
    assert callers.world.platform_audit_entries("list.narrowed") == []

    searched = (await support.open(f"{page}?search={owner}")).text
    parts = (await support.open(f"{page}?search=person")).text

    assert "29 found" in shown
    assert owner not in shown + (await support.open(next_of(shown))).text
    assert "No member has this in the address." in searched
    assert "29 found" in parts
    assert "members.csv" not in shown
    assert (await support.open(f"{page}/members.csv")).status == 403
    assert (
        callers.world.platform_audit_entries("list.narrowed", "target_id", "organization_id")
        == [("members", harbour)] * 2
    )


def next_of(page: str) -> str:
    """Return the address of the next part of a list; an empty text on the last one."""
    found = re.search(r'href="([^"]+[?&](?:amp;)?after=[^"]+)"[^>]*>Next<', page)
    return found[1].replace("&amp;", "&") if found else ""


def owner_of(world: World) -> tuple[UUID, str]:
    """Return the id and the address of a platform owner."""
    return world.rows("SELECT id, email FROM users WHERE is_platform_owner ORDER BY id LIMIT 1")[0]
