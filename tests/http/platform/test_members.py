"""Listing the members of one organization, for platform owners and support."""

from __future__ import annotations

from uuid import UUID

from tests.world.builder import NO_ID
from tests.world.support import SupportDesk
from tests.world.world import World, assert_refused

PATH = "/api/platform/organizations"


async def test_members_are_listed_in_parts_and_found_by_address(world: World) -> None:
    root = await world.signed_in_platform_owner()
    acme = world.organization("acme")
    for name in ("ann", "bob", "eve"):
        world.member(acme, world.user(f"{name}@example.com"), "owner" if name == "ann" else "member")

    first = (await root.get(f"{PATH}/{acme}/members?limit=2")).json
    rest = (await root.get(f"{PATH}/{acme}/members?limit=2&after={first['next']}")).json

    assert [one["email"] for one in first["members"] + rest["members"]] == [
        "ann@example.com",
        "bob@example.com",
        "eve@example.com",
    ]
    assert (first["total"], rest["total"], rest["next"]) == (3, 3, None)
    assert first["members"][0]["role"] == "owner"
    assert (await root.get(f"{PATH}/{acme}/members?search=OB@")).json["total"] == 1
    assert_refused(await root.get(f"{PATH}/{NO_ID}/members"), 404, "NOT_FOUND")
    assert_refused(await root.get(f"{PATH}/{acme}/members?limit=101"), 400, "BAD_REQUEST")


async def test_support_finds_no_platform_owner_among_them(desk: SupportDesk) -> None:
    world = desk.world
    acme = world.organization("acme")
    world.member(acme, world.user("bob@example.com"), "owner")
    world.member(acme, owner_of(world))

    everybody = (await desk.request("GET", f"{PATH}/{acme}/members")).json
    searched = (await desk.request("GET", f"{PATH}/{acme}/members?search=example")).json

    for found in (everybody, searched):
        assert ([one["email"] for one in found["members"]], found["total"]) == (["bob@example.com"], 1)


def owner_of(world: World) -> UUID:
    return world.value("SELECT id FROM users WHERE is_platform_owner")
