"""The pages of the members of an organization."""

from __future__ import annotations

import csv
import re
from datetime import timedelta

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/people"
# What stands in place of the last sign-in.
WITHOUT_SIGN_IN = ("Not since joining", "Not in the last 400 days", "Unknown")
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, an admin, two members and a custom role without capabilities."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.add("cid", "member")
    team.add("dora", "member")
    team.custom_role("clerk", "org.members.view")
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def emails(text: str) -> list[str]:
    """List the members that a page shows."""
    return [name for name in ("ann", "bob", "cid", "dora") if f">{name}@example.com</a>" in text.partition("<table")[2]]


async def test_members_are_found_by_a_part_of_the_address_and_by_role(ann: Visitor) -> None:
    assert emails((await ann.open(PAGE)).text) == ["ann", "bob", "cid", "dora"]
    assert emails((await ann.open(f"{PAGE}?search=%20DORA@ex")).text) == ["dora"]
    assert emails((await ann.open(f"{PAGE}?role=member")).text) == ["cid", "dora"]
    assert emails((await ann.open(f"{PAGE}?role=member&search=ci")).text) == ["cid"]
    nothing = await ann.open(f"{PAGE}?search=%25")
    assert "No member has this in the address" in nothing.text
    assert "0 found" in nothing.text


async def test_the_members_lead_to_inviting_people_for_who_may_do_it(ann: Visitor) -> None:
    link = f'<a class="button" href="{PAGE}/invited#emails">Invite people</a>'
    for_owner = await ann.open(PAGE)
    ann.cookies.clear()
    await ann.sign_in("dora@example.com")
    for_member = await ann.open(PAGE)

    assert link in for_owner.text
    assert link not in for_member.text


async def test_a_member_without_a_sign_in_is_said_to_have_none_for_as_long_as_it_is_known(
    world: World, people: Team, ann: Visitor
) -> None:
    member = f"{PAGE}/{people.ids['dora']}"
    world.connection.execute("UPDATE memberships SET created_at = %s", (world.clock() - timedelta(days=399),))
    newer = [await ann.open(f"{PAGE}?search=dora"), await ann.open(member)]
    world.connection.execute("UPDATE memberships SET created_at = %s", (world.clock() - timedelta(days=401),))
    older = [await ann.open(f"{PAGE}?search=dora"), await ann.open(member)]
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")
    unconfirmed = [await ann.open(f"{PAGE}?search=dora"), await ann.open(member)]

    for pages, says in ((newer, "Not since joining"), (older, "Not in the last 400 days"), (unconfirmed, "Unknown")):
        for page in pages:
            assert [one for one in WITHOUT_SIGN_IN if one in page.text] == [says]


async def test_a_long_list_goes_on_and_stays_small(world: World, people: Team, ann: Visitor) -> None:
    for number in range(60):
        world.member(people.organization_id, world.user(f"{'x' * 60}-{number:02}@{'y' * 60}.example.com"), "member")

    page, seen, sizes = PAGE + "?role=member", set[str](), list[int]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        seen |= {number for number in map("{:02}".format, range(60)) if f"-{number}@" in answer.text}
        following = (
            answer.text.partition('aria-label="Pages of the list"')[2].partition("</nav>")[0].split('href="')[1:]
        )
        links = [link.partition('"')[0].replace("&amp;", "&") for link in following]
        page = next((link for link in links if "after=" in link), "")

    assert len(seen) == 60
    assert len(sizes) == 3
    assert max(sizes) < 40 * 1024


@pytest.mark.parametrize(
    "position", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2026-02-03T04:05:06Z", "%00", "%ED%A0%80"]
)
async def test_an_odd_position_in_the_address_is_no_failure(ann: Visitor, position: str) -> None:
    for page in (PAGE, f"{PAGE}/invited"):
        answer = await ann.open(f"{page}?after={position}_0191d3c1-0000-7000-8000-00000000000f")

        assert answer.status in {200, 400}


async def test_a_member_who_has_not_confirmed_shows_nothing_of_the_account(
    world: World, people: Team, ann: Visitor
) -> None:
    world.connection.execute("UPDATE users SET mfa_enabled_at = now(), name = %s", (HOSTILE,))
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", (people.ids["cid"],))

    confirmed = await ann.open(f"{PAGE}/{people.ids['dora']}")
    unconfirmed = await ann.open(f"{PAGE}/{people.ids['cid']}")

    assert "&lt;b onclick" in confirmed.text
    assert HOSTILE not in confirmed.text
    assert "<dd>On</dd>" in confirmed.text
    assert not shows(unconfirmed.text, "Bolt")
    assert "<dd>Unknown</dd>" in unconfirmed.text
    assert "has not confirmed the membership yet" in unconfirmed.text


async def test_the_owner_changes_a_role(people: Team, ann: Visitor) -> None:
    member = f"{PAGE}/{people.ids['cid']}"

    page = await ann.submit(await ann.open(member), member, role="clerk")

    assert "The role is changed." in page.text
    assert people.role_of("cid") == "clerk"


async def test_a_role_that_was_changed_meanwhile_is_said_and_the_choice_stays(people: Team, ann: Visitor) -> None:
    member = f"{PAGE}/{people.ids['cid']}"
    form = await ann.open(member)
    people.world.connection.execute("UPDATE memberships SET role = 'clerk' WHERE user_id = %s", (people.ids["cid"],))

    refused = await ann.submit(form, member, role="admin")
    role = people.role_of("cid")
    again = await ann.submit(refused, member, role="admin")

    assert refused.status == 409
    assert "Another person has changed the role of this member meanwhile." in refused.text
    assert '<option value="admin" selected>' in refused.text
    assert role == "clerk"
    assert again.status == 200
    assert people.role_of("cid") == "admin"


async def test_an_unknown_role_is_refused_on_the_page(people: Team, ann: Visitor) -> None:
    member = f"{PAGE}/{people.ids['cid']}"

    refused = await ann.submit(await ann.open(member), member, role="king")

    assert refused.status == 400
    assert "This must be admin, member, or the slug of a role" in refused.text


async def test_the_page_of_a_removal_says_what_ends_in_numbers(people: Team, ann: Visitor) -> None:
    cid, world = people.ids["cid"], people.world
    shop = world.service(people.organization_id, "shop")
    world.grant(people.organization_id, shop.id, cid, "viewer")
    await world.sign_in("cid@example.com", org_slug="acme", service_slug="shop")

    asked = await ann.open(f"{PAGE}/{cid}/remove")
    removed = await ann.submit(asked, f"{PAGE}/{cid}/remove")

    assert "The access to one of your services" in asked.text
    assert "One session there." in asked.text
    assert "The right to look after one service." in asked.text
    assert "key of the organization" not in asked.text
    assert "The member is removed" in removed.text
    assert f'action="{PAGE}/invited"' in removed.text
    assert people.role_of("cid") is None
    assert (await ann.open(f"{PAGE}/{cid}")).status == 404


async def test_the_page_after_a_removal_offers_to_add_the_person_again_with_the_role(
    people: Team, ann: Visitor
) -> None:
    removed = await _removed(people, ann, "cid", role="clerk")

    invited = await ann.submit(removed, f"{PAGE}/invited", _hidden(removed))

    assert (_hidden(removed), invited.status) == ({"emails": "cid@example.com", "role": "clerk"}, 200)
    assert people.world.rows("SELECT email, role, status FROM invitations") == [("cid@example.com", "clerk", "pending")]


async def test_a_person_is_added_again_with_no_role_that_the_remover_could_not_give(
    people: Team, visitor: Visitor
) -> None:
    people.custom_role("keeper", "org.members.manage", "org.members.view")
    people.add("kim", "keeper")
    await visitor.sign_in("kim@example.com")

    removed = await _removed(people, visitor, "cid", role="member")
    people.custom_role("looker", "org.members.view")
    other = await _removed(people, visitor, "dora", role="looker")

    assert _hidden(removed)["role"] == _hidden(other)["role"] == "member"
    assert "The role was looker." in other.text


async def _removed(people: Team, visitor: Visitor, name: str, *, role: str) -> Answer:
    """Remove a member who has a role, and return the page that follows."""
    user_id = people.ids[name]
    people.world.connection.execute("UPDATE memberships SET role = %s WHERE user_id = %s", (role, user_id))
    asked = await visitor.open(f"{PAGE}/{user_id}/remove")
    return await visitor.submit(asked, f"{PAGE}/{user_id}/remove")


def _hidden(page: Answer) -> dict[str, str]:
    """Return the address and the role that the form of a page sends."""
    return dict(re.findall(r'name="(emails|role)" value="([^"]*)"', page.text))


async def test_a_removal_of_another_role_than_the_page_has_shown_is_refused(people: Team, ann: Visitor) -> None:
    cid = people.ids["cid"]
    asked = await ann.open(f"{PAGE}/{cid}/remove")
    people.world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (cid,))

    refused = await ann.submit(asked, f"{PAGE}/{cid}/remove")

    assert refused.status == 409
    assert "Another person has changed the role of this member meanwhile." in refused.text
    assert people.role_of("cid") == "admin"


async def test_the_owner_and_oneself_have_no_removal(people: Team, visitor: Visitor) -> None:
    await visitor.sign_in("bob@example.com")
    for name, sentence in (("ann", "keeps this role until"), ("bob", "Leave this organization")):
        page = await visitor.open(f"{PAGE}/{people.ids[name]}")
        assert f"{people.ids[name]}/remove" not in page.text
        assert sentence in page.text

    refused = await visitor.submit(
        await visitor.open(f"{PAGE}/{people.ids['ann']}/remove"), f"{PAGE}/{people.ids['ann']}/remove"
    )

    assert refused.status == 400
    assert "The owner cannot be removed." in refused.text


@pytest.mark.parametrize("role", ["admin", "member", "clerk"])
async def test_what_a_role_may_not_do_is_shown_with_what_it_lacks(people: Team, visitor: Visitor, role: str) -> None:
    people.add("eli", role)
    await visitor.sign_in("eli@example.com")

    page = await visitor.open(f"{PAGE}/{people.ids['cid']}")

    assert "Only the owner can do this." in page.text
    assert "Ask ann@example.com." in page.text
    assert ("org.members.manage" in page.text) is (role != "admin")
    assert (
        f"{people.ids['cid']}/remove" in page.text
        if role == "admin"
        else f"{people.ids['cid']}/remove" not in page.text
    )


async def test_the_file_has_every_member_that_is_found_and_no_formula(people: Team, ann: Visitor) -> None:
    people.world.connection.execute("UPDATE users SET name = '=cmd()' WHERE id = %s", (people.ids["cid"],))
    people.world.connection.execute("UPDATE organizations SET created_at = created_at - interval '1 day'")

    everything = await ann.open(f"{PAGE}/members.csv")
    admins = await ann.open(f"{PAGE}/members.csv?role=admin")

    rows = list(csv.DictReader(everything.text.splitlines()))
    assert everything.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert [row["email"].partition("@")[0] for row in rows] == ["ann", "bob", "cid", "dora"]
    assert rows[2]["name"] == "'=cmd()"
    assert rows[2]["source"] == "invitation"
    assert [row["email"] for row in csv.DictReader(admins.text.splitlines())] == ["bob@example.com"]


async def test_a_member_of_another_organization_is_not_found(world: World, people: Team, ann: Visitor) -> None:
    globex, eve = world.organization("globex"), world.user("eve@example.com")
    world.member(globex, eve, "member")

    for path in (f"{PAGE}/{eve}", f"{PAGE}/{eve}/remove"):
        assert (await ann.open(path)).status == 404
    assert "eve@" not in (await ann.open(f"{PAGE}?search=eve")).text.partition("<table")[2]


async def test_a_rare_part_is_found_behind_a_thousand_members(people: Team, ann: Visitor) -> None:
    people.world.connection.execute(
        """
        WITH added AS (
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT gen_random_uuid(), lpad(n::text, 4, '0') || '@many.example', now(), now()
            FROM   generate_series(1, 1100) AS n
            RETURNING id, email)
        INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
        SELECT gen_random_uuid(), %s, id, 'clerk', now() + left(email, 4)::integer * interval '1 second', now()
        FROM   added
        """,
        (people.organization_id,),
    )

    rare = await ann.open(f"{PAGE}?search=1099@many")
    seldom = await ann.open(f"{PAGE}?search=99@many&role=clerk")
    frequent = await ann.open(f"{PAGE}?search=@many&role=clerk")
    of_role = await ann.open(f"{PAGE}?role=clerk")
    none = await ann.open(f"{PAGE}?search=1099@many&role=member")

    assert "One found" in rare.text
    assert ">1099@many.example</a>" in rare.text
    assert [number for number in range(1100) if f">{number:04}@many" in seldom.text] == [*range(99, 1100, 100)]
    assert "11 found" in seldom.text
    assert "1100 found" in frequent.text
    assert "1100 found" in of_role.text
    assert ">0025@many.example</a>" in frequent.text
    assert ">0026@many.example</a>" not in frequent.text
    assert "0 found" in none.text
