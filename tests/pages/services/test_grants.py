"""The tab of a service with its people."""

from __future__ import annotations

import re

import pytest

from tests.application import Answer
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

GRANTS = "/app/organizations/acme/services/shop/grants"


@pytest.fixture
def shop(world: World) -> Team:
    """An organization with an owner, three members, and a service with an end user."""
    team = world.team()
    team.add("ann", "owner")
    for name in ("bob", "cid", "dora"):
        team.add(name, "member")
    service = world.service(team.organization_id, "shop")
    world.link(team.organization_id, service.id, team.user("eli"))
    return team


@pytest.fixture
async def ann(shop: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def relations(world: World) -> list[tuple[str, str]]:
    """List the grants, as addresses and relations."""
    return world.rows("SELECT u.email, relation FROM service_grants g JOIN users u ON u.id = g.user_id ORDER BY email")


async def give(visitor: Visitor, team: Team, name: str, relation: str = "viewer") -> Answer:
    """Find a member by the address, and grant access."""
    found = await visitor.open(f"{GRANTS}?find={name}")
    page = f"{GRANTS}/{team.ids[name]}"
    return await visitor.submit(await visitor.follow(found, page), page, {"relation": relation})


async def test_a_member_is_found_by_address_and_granted_access(world: World, shop: Team, ann: Visitor) -> None:
    empty, nobody = await ann.open(GRANTS), await ann.open(f"{GRANTS}?find=eli")

    given = await give(ann, shop, "bob")
    await give(ann, shop, "cid", "manager")
    found = await ann.open(f"{GRANTS}?search=CID@")

    assert "One person uses this service." in empty.text
    assert 'href="/app/organizations/acme/people/end-users?service=shop"' in empty.text
    assert "bob@example.com" not in empty.text
    assert "No member has this in the address." in nobody.text
    assert "The access is saved" in given.text
    assert relations(world) == [("bob@example.com", "viewer"), ("cid@example.com", "manager")]
    assert ("cid@example.com" in found.text, "bob@example.com" in found.text) == (True, False)
    assert "One found" in found.text


async def test_an_access_is_changed_and_taken_away(world: World, shop: Team, ann: Visitor) -> None:
    page = f"{GRANTS}/{shop.ids['bob']}"
    await give(ann, shop, "bob")

    await ann.submit(await ann.open(page), page, {"relation": "manager"})
    assert relations(world) == [("bob@example.com", "manager")]
    revoked = await ann.submit(await ann.open(page), f"{page}/revoke")

    assert "The access is taken away." in revoked.text
    assert relations(world) == []


async def test_two_admins_at_once_do_not_undo_each_other(world: World, shop: Team, ann: Visitor) -> None:
    page = f"{GRANTS}/{shop.ids['bob']}"
    stale = await ann.open(page)
    await give(ann, shop, "bob", "manager")
    listed = await ann.open(page)

    again = await ann.submit(stale, page, {"relation": "viewer"})
    await ann.submit(listed, page, {"relation": "viewer"})
    late = await ann.submit(listed, f"{page}/revoke")
    done = await ann.submit(late, f"{page}/revoke")
    gone = await ann.submit(late, f"{page}/revoke")

    for refused in (again, late):
        assert (refused.status, "Another person has changed the access" in refused.text) == (409, True)
    assert done.status == 200
    assert (gone.status, "no grant on the service" in gone.text) == (404, True)


async def test_what_is_no_access_or_no_member_is_refused(world: World, shop: Team, ann: Visitor) -> None:
    eve = world.user("eve@example.com")
    globex = world.organization("globex")
    world.member(globex, eve, "owner")
    token = re.findall('name="form_token" value="([^"]+)"', (await ann.open(GRANTS)).text)[0]

    odd = await ann.post(f"{GRANTS}/{shop.ids['bob']}", {"form_token": token, "relation": "owner"})
    foreign = await ann.post(f"{GRANTS}/{eve}", {"form_token": token, "relation": "manager"})
    unseen = await ann.open(f"{GRANTS}/{eve}")
    nowhere = await ann.open(GRANTS.replace("/shop/", "/till/"))

    assert (odd.status, foreign.status, unseen.status, nowhere.status) == (400, 404, 404, 404)
    assert "eve@example.com" not in foreign.text
    assert relations(world) == []


async def test_a_manager_by_grant_gives_no_access_and_a_role_without_members_searches_none(
    world: World, shop: Team, visitor: Visitor
) -> None:
    shop.custom_role("keeper", "services.manage", "services.view")
    shop.add("hal", "keeper")
    world.grant(shop.organization_id, world.value("SELECT id FROM services"), shop.ids["bob"], "manager")
    await visitor.sign_in("bob@example.com")
    closed = await visitor.open(GRANTS)
    await visitor.post("/app/sign-out", {})
    visitor.cookies.clear()
    await visitor.sign_in("hal@example.com")

    page = await visitor.open(f"{GRANTS}?find=bob")

    assert closed.status == 403
    assert "<code>org.members.view</code>" in page.text
    assert "<code>end_users.view</code>" in page.text
    assert "uses this service" not in page.text
    assert "Members found" not in page.text


async def test_many_grants_are_paged_and_small(world: World, shop: Team, ann: Visitor) -> None:
    service_id = world.value("SELECT id FROM services")
    for number in range(60):
        user_id = world.user(f"{'x' * 60}-{number:02}@{'y' * 60}.example.com")
        world.member(shop.organization_id, user_id)
        world.grant(shop.organization_id, service_id, user_id, "viewer")

    page, seen, sizes = f"{GRANTS}?search=-", list[str](), list[int]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        seen += re.findall(r"-(\d\d)@[^<]*</a>", answer.text)
        links = re.findall(r'href="([^"]+after=[^"]+)"', answer.text)
        page = links[0].replace("&amp;", "&") if links else ""
        assert "60 found" in answer.text

    assert (len(seen), len(set(seen))) == (60, 60)
    assert max(sizes) < 40 * 1024
