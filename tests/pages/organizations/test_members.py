"""Changing the roles of several members at once, and removing them."""

from __future__ import annotations

import re
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from tests.application import Answer
from tests.world.team import Team
from tests.world.visitor import FORM, Visitor, forms_of
from tests.world.world import World

PAGE = "/app/organizations/acme/people"
SELECTED = f"{PAGE}/selected"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, an admin, three members and a custom role."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    for name in ("cid", "dora", "eli"):
        team.add(name, "member")
    team.custom_role("clerk", "org.members.view")
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def chosen(people: Team, *names: str) -> str:
    """Return the query that chooses these members."""
    return urlencode([("members", people.ids[name]) for name in names])


def rows_of(page: Answer) -> list[str]:
    """List the rows that a page has ticked."""
    return re.findall(r'name="rows" type="checkbox" value="([^"]+)" checked', page.text)


async def send(visitor: Visitor, page: Answer, action: str, rows: list[str], **fields: str) -> Answer:
    """Send the form of a page with these rows ticked."""
    [form] = [form for form in forms_of(page) if form.action == action]
    sent = [*form.fields.items(), *fields.items(), *(("rows", row) for row in rows)]
    return await visitor.send("POST", action, data=urlencode(sent).encode(), headers={"Content-Type": FORM})


def results(page: Answer) -> dict[str, str]:
    """Return what became of each address."""
    part = page.text.partition('<ul class="results">')[2].partition("</ul>")[0]
    found = re.findall(r"<li><strong>([^<]+)</strong> (.*?)</li>", part, re.DOTALL)
    return {email.partition("@")[0]: re.sub(r"<[^>]+>", "", text).strip() for email, text in found}


async def test_the_owner_and_the_reader_are_not_offered(people: Team, visitor: Visitor) -> None:
    await visitor.sign_in("bob@example.com")

    page = await visitor.open(PAGE)

    assert re.findall(r'name="members" type="checkbox" value="([^"]+)"', page.text) == [
        str(people.ids[name]) for name in ("cid", "dora", "eli")
    ]
    assert "Only the owner can do this." in page.text
    assert f'formaction="{SELECTED}/remove"' in page.text
    assert f'formaction="{SELECTED}/change"' not in page.text


async def test_a_member_who_may_change_no_one_has_no_boxes(people: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    page = await visitor.open(PAGE)

    assert 'name="members"' not in page.text
    assert "org.members.manage" in page.text
    for path in (f"{SELECTED}/change", f"{SELECTED}/remove"):
        assert (await visitor.open(f"{path}?{chosen(people, 'dora')}")).status == 403


async def test_the_owner_changes_several_roles_and_sees_a_result_for_each(people: Team, ann: Visitor) -> None:
    page = await ann.open(f"{SELECTED}/change?{chosen(people, 'cid', 'dora', 'bob', 'ann')}")
    rows = rows_of(page)
    people.world.connection.execute("UPDATE memberships SET role = 'clerk' WHERE user_id = %s", (people.ids["dora"],))

    done = await send(ann, page, f"{SELECTED}/change", rows, role="admin")

    assert rows == [f"{people.ids['bob']} admin", f"{people.ids['cid']} member", f"{people.ids['dora']} member"]
    assert done.status == 200
    assert "One of 3 was not done." in done.text
    assert (results(done)["bob"], results(done)["cid"]) == ("Changed", "Changed")
    assert "Another person has changed the role of this member meanwhile." in results(done)["dora"]
    assert [people.role_of(name) for name in ("cid", "dora", "eli")] == ["admin", "clerk", "member"]
    # What was refused stays chosen, as it is now.
    assert rows_of(done) == [f"{people.ids['dora']} clerk"]
    again = await send(ann, done, f"{SELECTED}/change", rows_of(done), role="admin")
    assert "All were done." in again.text
    assert people.role_of("dora") == "admin"


async def test_the_removal_of_several_says_what_ends_in_numbers(world: World, people: Team, ann: Visitor) -> None:
    shop = world.service(people.organization_id, "shop")
    for name in ("cid", "dora"):
        await world.sign_in(f"{name}@example.com", org_slug="acme", service_slug="shop")
        world.grant(people.organization_id, shop.id, people.ids[name], "viewer")
    world.subscription(world.plan(people.organization_id, shop.id, "Gold"), people.ids["dora"])

    asked = await ann.open(f"{SELECTED}/remove?{chosen(people, 'cid', 'dora', 'eli')}")
    done = await send(ann, asked, f"{SELECTED}/remove", rows_of(asked)[:2], note="moved on")

    assert "3 memberships." in asked.text
    assert "2 accesses to services" in asked.text
    assert "2 sessions there." in asked.text
    assert "One subscription without payment." in asked.text
    assert "The right to look after 2 services." in asked.text
    assert results(done) == {"cid": "Removed", "dora": "Removed"}
    assert [people.role_of(name) for name in ("cid", "dora", "eli")] == [None, None, "member"]
    assert [details["note"] for (details,) in world.audit_entries("user.removed", "details")] == ["moved on"] * 2


async def test_all_that_are_found_are_chosen_up_to_a_hundred(world: World, people: Team, ann: Visitor) -> None:
    for number in range(102):
        world.member(people.organization_id, world.user(f"p-{number:03}@example.com"), "member")

    listed = await ann.open(f"{PAGE}?search=p-")
    many = await ann.follow(listed, f"{SELECTED}/change")
    few = await ann.open(f"{SELECTED}/remove?found=yes&role=clerk")
    everyone = await ann.open(f"{SELECTED}/remove?found=yes")
    changed = await send(ann, many, f"{SELECTED}/change", rows_of(many), role="clerk")

    assert len(rows_of(many)) == 100
    assert "These are the first 100 that were found." in many.text
    assert len(many.text.encode()) < 40 * 1024
    assert "No member is chosen" in few.text
    assert len(rows_of(everyone)) == 100
    assert set(results(changed).values()) == {"Changed"}
    assert len(changed.text.encode()) < 40 * 1024
    assert world.value("SELECT count(*) FROM memberships WHERE role = 'clerk'") == 100


async def test_a_form_without_or_with_too_many_or_damaged_rows_is_refused_and_keeps_what_was_typed(
    people: Team, ann: Visitor
) -> None:
    page = await ann.open(f"{SELECTED}/remove?{chosen(people, 'cid')}")
    row = rows_of(page)[0]

    nothing = await send(ann, page, f"{SELECTED}/remove", [])
    damaged = await send(ann, page, f"{SELECTED}/remove", ["x y"])
    many = await send(ann, page, f"{SELECTED}/remove", [row, *(f"{uuid4()} member" for _ in range(100))])
    role = await send(ann, page, f"{SELECTED}/remove", [f"{people.ids['cid']} admin"], note="x")

    assert (nothing.status, damaged.status, many.status) == (400, 400, 400)
    assert "Choose at least one member." in nothing.text
    assert "This form is damaged." in damaged.text
    assert "Choose at most 100 members at once." in many.text
    assert "Another person has changed the role" in results(role)["cid"]
    assert 'value="x"' in role.text
    assert people.role_of("cid") == "member"


async def test_a_member_of_another_organization_is_neither_shown_nor_changed(
    world: World, people: Team, ann: Visitor
) -> None:
    globex, eve = world.organization("globex"), world.user("eve@example.com")
    world.member(globex, eve, "member")

    asked = await ann.open(f"{SELECTED}/remove?members={eve}&members={people.ids['cid']}")
    refused = await send(ann, asked, f"{SELECTED}/remove", [f"{eve} member"])

    assert rows_of(asked) == [f"{people.ids['cid']} member"]
    assert "eve@" not in asked.text + refused.text
    assert results(refused) == {"A person who is no member here": "Not done This organization has no such member."}
    assert world.role_of(globex, "eve@example.com") == "member"


async def test_an_admin_removes_no_member_whose_role_allows_more(people: Team, visitor: Visitor) -> None:
    people.custom_role("hr", "org.members.manage", "org.members.view")
    people.add("fay", "hr")
    await visitor.sign_in("fay@example.com")

    asked = await visitor.open(f"{SELECTED}/remove?{chosen(people, 'bob', 'cid')}")
    done = await send(visitor, asked, f"{SELECTED}/remove", rows_of(asked))

    assert results(done)["cid"] == "Removed"
    assert "a person whose role allows more than your own" in results(done)["bob"]
    assert people.role_of("bob") == "admin"
