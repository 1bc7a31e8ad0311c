"""The page of a member: the person's services, sessions, sign-ins and audit entries."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.directory import insert_directory
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/people"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"
CID = "cid@example.com"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, an admin, a member and a service with a plan."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.add("cid", "member")
    return team


@pytest.fixture
def shop(world: World, people: Team) -> UUID:
    """A service of the organization."""
    return world.service(people.organization_id, "shop").id


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def of_cid(people: Team, visitor: Visitor) -> Answer:
    return await visitor.open(f"{PAGE}/{people.ids['cid']}")


def panel(page: Answer, name: str) -> str:
    """Return a part of a page."""
    return page.text.partition(f'<section class="panel" id="{name}"')[2].partition("</section>")[0]


async def test_services_sessions_and_sign_ins_in_the_organization_are_shown(
    world: World, people: Team, shop: UUID, ann: Visitor
) -> None:
    plan = world.plan(people.organization_id, shop, "Gold")
    world.subscription(plan, people.ids["cid"], "past_due")
    await world.sign_in(CID, org_slug="acme", service_slug="shop", headers={"User-Agent": HOSTILE})
    await world.log_in(CID, "wrong", org_slug="acme")
    await world.sign_in(CID)

    page = await of_cid(people, ann)

    assert HOSTILE not in page.text
    assert "Gold" in panel(page, "services")
    assert "Payment overdue" in panel(page, "services")
    assert panel(page, "sessions").count('<li class="row">') == 1
    assert f'href="{PAGE}/end-users/{people.ids["cid"]}/end"' in panel(page, "sessions")
    assert panel(page, "sign-ins").count('<li class="row">') == 2
    assert "The password was wrong." in panel(page, "sign-ins")
    assert f'href="/app/organizations/acme/why?email={CID.replace("@", "%40")}"' in panel(page, "sign-ins")


async def test_sessions_of_the_organization_alone_are_only_shown(world: World, people: Team, ann: Visitor) -> None:
    for _ in range(7):
        await world.sign_in(CID, org_slug="acme")

    page = await of_cid(people, ann)

    assert panel(page, "sessions").count('<li class="row">') == 5
    assert "2 more sessions are not listed." in panel(page, "sessions")
    assert "These sessions open the organization itself." in panel(page, "sessions")
    assert "/end" not in panel(page, "sessions")


async def test_the_audit_log_about_a_person_and_by_them_is_shown(world: World, people: Team, ann: Visitor) -> None:
    member = f"{PAGE}/{people.ids['cid']}"
    await ann.submit(await ann.open(member), member, role="admin")
    await people.request("bob", "PATCH", "", body={"name": "Other"})
    await people.request("cid", "PATCH", "", body={"name": "Another"})

    entries = panel(await of_cid(people, ann), "entries")

    assert entries.count('<li class="row">') == 2
    assert entries.index("Changed the settings of the organization") < entries.index("Changed the role of a member")
    assert "This person" in entries
    assert "ann@example.com" in entries


async def test_an_entry_names_who_acted_as_the_audit_log_does(world: World, people: Team, ann: Visitor) -> None:
    directory = insert_directory(people)
    ada = (await directory.create())["id"]
    world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (people.ids["cid"],))
    await people.token("cid")
    world.user("root@example.com")
    world.impersonate_in_sessions(CID, owner="root@example.com")
    await people.request("cid", "PATCH", "", body={"name": "Another"})

    of_ada = panel(await ann.open(f"{PAGE}/{ada}"), "entries")
    entries = panel(await of_cid(people, ann), "entries")

    assert "The directory, with the token directory" in of_ada
    assert "It was root@example.com of the platform, acting as this person." in entries
    assert "This person" not in entries


async def test_of_a_person_who_has_not_confirmed_neither_sessions_nor_sign_ins_are_shown(
    world: World, people: Team, ann: Visitor
) -> None:
    await world.sign_in(CID, org_slug="acme")
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", (people.ids["cid"],))

    page = await of_cid(people, ann)

    for name in ("sessions", "sign-ins", "personal-data"):
        assert "as soon as the person has confirmed" in panel(page, name)
        assert '<li class="row">' not in panel(page, name)


async def test_another_organization_s_sessions_sign_ins_and_entries_are_not_shown(
    world: World, people: Team, ann: Visitor
) -> None:
    globex = world.organization("globex")
    world.member(globex, people.ids["cid"], "owner")
    shop = world.service(globex, "elsewhere")
    world.link(globex, shop.id, people.ids["cid"])
    tokens = await world.sign_in(CID, org_slug="globex", service_slug="elsewhere")
    selected = await world.sign_in(CID, org_slug="globex")
    await world.client.patch("/api/organizations/globex", body={"name": "Globex Two"}, token=selected.access_token)

    page = await of_cid(people, ann)

    assert tokens
    assert not shows(page.text, "lobex")
    assert not shows(page.text, "elsewhere")
    for name in ("sessions", "sign-ins", "services", "entries"):
        assert '<li class="row">' not in panel(page, name)


async def test_each_part_takes_the_capability_of_its_route(people: Team, visitor: Visitor) -> None:
    people.custom_role("clerk", "org.members.view")
    people.add("eli", "clerk")
    await visitor.sign_in("eli@example.com")

    page = await of_cid(people, visitor)

    for name, capability in (
        ("services", "end_users.view"),
        ("sessions", "end_users.view"),
        ("sign-ins", "end_users.manage"),
        ("entries", "audit_logs.view"),
    ):
        assert f"<code>{capability}</code>" in panel(page, name)
    assert "Only the owner can do this." in panel(page, "personal-data")


async def test_a_member_who_may_not_end_the_sessions_sees_what_is_missing(
    world: World, people: Team, shop: UUID, visitor: Visitor
) -> None:
    await world.sign_in(CID, org_slug="acme", service_slug="shop")
    people.add("eli", "member")
    await visitor.sign_in("eli@example.com")

    page = await of_cid(people, visitor)

    assert shop
    assert "<code>end_users.manage</code>" in panel(page, "sessions")
    assert "disabled" in panel(page, "sessions")


async def test_a_removal_keeps_the_note_in_the_audit_log_alone(people: Team, ann: Visitor) -> None:
    remove = f"{PAGE}/{people.ids['cid']}/remove"
    asked = await ann.open(remove)

    refused = await ann.submit(asked, remove, note="x" * 1001)
    await ann.submit(asked, remove, note=" has left us ")

    assert refused.status == 400
    assert "A note has at most 1000 characters." in refused.text
    [(details,)] = people.world.audit_entries("user.removed", "details")
    [(_, _, data)] = people.world.events("user.removed")
    assert details["note"] == "has left us"
    assert "note" not in data
