"""The pages of the end users of an organization."""

from __future__ import annotations

import csv
import re
from uuid import UUID

import pytest

from core.organizations.choices import CHOICES_MAX
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/people/end-users"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, a member and end users of its two services."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    shop, desk = (world.service(team.organization_id, slug) for slug in ("shop", "desk"))
    for name in ("eli", "fay", "gus"):
        world.link(team.organization_id, shop.id, team.user(name))
    world.link(team.organization_id, desk.id, team.ids["gus"])
    world.subscription(world.plan(team.organization_id, shop.id, HOSTILE), team.ids["gus"])
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def names(text: str) -> list[str]:
    """List the end users that a page shows, in their order."""
    return re.findall(r">(\w+)@example\.com</a>", text.partition("<table")[2])


def use(world: World, user_id: UUID) -> None:
    """Let an end user have signed in."""
    world.connection.execute("UPDATE service_users SET last_login_at = now() WHERE user_id = %s", (user_id,))


async def test_end_users_are_found_by_a_part_of_the_address_and_by_service(ann: Visitor) -> None:
    everything = await ann.open(PAGE)

    assert sorted(names(everything.text)) == ["eli", "fay", "gus"]
    assert "3 found" in everything.text
    assert HOSTILE not in everything.text
    assert "Bolt" in everything.text
    assert names((await ann.open(f"{PAGE}?search=%20FAY@ex")).text) == ["fay"]
    assert names((await ann.open(f"{PAGE}?service=desk")).text) == ["gus"]
    assert names((await ann.open(f"{PAGE}?service=shop&search=el")).text) == ["eli"]
    for nothing in ("?service=nowhere", "?search=ann", "?search=%25"):
        page = await ann.open(PAGE + nothing)
        assert "No end user has this in the address" in page.text
        assert "0 found" in page.text


async def test_the_service_of_the_filter_is_chosen_or_of_many_typed(people: Team, ann: Visitor) -> None:
    chosen = await ann.open(f"{PAGE}?service=desk")
    for number in range(CHOICES_MAX):
        people.world.service(people.organization_id, f"desk-{number}")
    typed = await ann.open(f"{PAGE}?service=desk")

    assert '<option value="desk" selected>Desk (desk)</option>' in chosen.text
    assert '<option value="">Every service</option>' in chosen.text
    assert '<input id="service" name="service" type="search" value="desk"' in typed.text


async def test_a_long_list_goes_on_and_stays_small(world: World, people: Team, ann: Visitor) -> None:
    for number in range(60):
        user_id = world.user(f"{'x' * 60}-{number:02}@{'y' * 60}.example.com")
        for slug in ("shop", "desk"):
            service_id = world.value("SELECT id FROM services WHERE slug = %s", slug)
            world.link(people.organization_id, service_id, user_id)

    page, seen, sizes = f"{PAGE}?search=-", list[str](), list[int]()
    while page:
        answer = await ann.open(page)
        sizes.append(len(answer.text.encode()))
        seen += re.findall(r"-(\d\d)@", answer.text.partition("<table")[2])
        links = re.findall(r'href="([^"]+after=[^"]+)"', answer.text)
        page = links[0].replace("&amp;", "&") if links else ""
        assert "60 found" in answer.text

    assert len(seen) == len(set(seen)) == 60
    assert len(sizes) == 3
    assert max(sizes) < 40 * 1024


async def test_an_odd_position_in_the_address_is_no_failure(ann: Visitor) -> None:
    for position in ("9999-12-31T23:59:59-23:59_x", "%00", "2026-02-03T04:05:06Z"):
        assert (await ann.open(f"{PAGE}?after={position}")).status in {200, 400}, position


async def test_nothing_of_an_account_is_told_before_its_user_has_signed_in(
    world: World, people: Team, ann: Visitor
) -> None:
    world.connection.execute("UPDATE users SET mfa_enabled_at = now(), name = 'Fay', deactivated_at = now()")
    world.connection.execute("UPDATE users SET deactivated_at = NULL WHERE email = 'ann@example.com'")
    use(world, people.ids["gus"])

    untold = await ann.open(f"{PAGE}/{people.ids['fay']}")
    told = await ann.open(f"{PAGE}/{people.ids['gus']}")

    assert "Not signed in yet" in untold.text
    assert untold.text.count("<dd>Unknown</dd>") == 2
    assert "<dd>Fay</dd>" not in untold.text
    assert "Account deactivated" in told.text
    assert "<dd>On</dd>" in told.text
    assert "<dd>Fay</dd>" in told.text


async def test_an_account_that_its_person_has_closed_is_said(world: World, people: Team, ann: Visitor) -> None:
    world.connection.execute("UPDATE users SET closed_at = now() WHERE id = %s", (people.ids["gus"],))
    use(world, people.ids["gus"])

    assert "Account closed by the person" in (await ann.open(PAGE)).text


async def test_a_person_who_is_a_member_too_has_links_between_both_pages(
    world: World, people: Team, ann: Visitor
) -> None:
    world.link(people.organization_id, world.value("SELECT id FROM services WHERE slug = 'shop'"), people.ids["bob"])

    end_user = await ann.open(f"{PAGE}/{people.ids['bob']}")
    member = await ann.open(f"/app/organizations/acme/people/{people.ids['bob']}")

    assert f'href="/app/organizations/acme/people/{people.ids["bob"]}"' in end_user.text
    assert f'href="{PAGE}/{people.ids["bob"]}"' in member.text
    assert "This person as a member" not in (await ann.open(f"{PAGE}/{people.ids['eli']}")).text


async def test_the_sessions_of_an_end_user_end_after_a_page_that_counts_them(
    world: World, people: Team, ann: Visitor
) -> None:
    tokens = [await world.sign_in("eli@example.com", org_slug="acme", service_slug="shop") for _ in range(2)]
    elsewhere = await world.sign_in("eli@example.com")
    page = f"{PAGE}/{people.ids['eli']}"

    asked = await ann.follow(await ann.open(page), f"{page}/end")
    ended = await ann.submit(asked, f"{page}/end")

    assert "2 sessions at your organization and its services." in asked.text
    assert "Every other session" not in asked.text
    assert "The sessions have ended." in ended.text
    assert "This person is not signed in here now." in ended.text
    assert (await world.list_sessions(tokens[0])).status == 401
    assert (await world.list_sessions(elsewhere)).status == 200


async def test_sessions_that_another_admin_has_ended_are_not_ended_once_more(
    world: World, people: Team, ann: Visitor
) -> None:
    for _ in range(2):
        await world.sign_in("eli@example.com", org_slug="acme", service_slug="shop")
    end = f"{PAGE}/{people.ids['eli']}/end"
    first, second = await ann.open(end), await ann.open(end)
    await ann.submit(first, end)
    again = await world.sign_in("eli@example.com", org_slug="acme", service_slug="shop")

    late = await ann.submit(second, end)

    assert late.status == 409
    assert "Some of these sessions have ended meanwhile" in late.text
    assert "One session at your organization" in late.text
    assert (await world.list_sessions(again)).status == 200


async def test_all_sessions_of_an_own_account_in_the_mail_domain_end(world: World, people: Team, ann: Visitor) -> None:
    world.mail_domain(people.organization_id, "example.com")
    world.connection.execute(
        "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (people.organization_id, people.ids["eli"])
    )

    asked = await ann.open(f"{PAGE}/{people.ids['eli']}/end")

    assert "Every other session of this account too" in asked.text
    assert "No session at your organization" in asked.text


async def test_a_member_sees_end_users_and_ends_no_sessions(world: World, people: Team, visitor: Visitor) -> None:
    await world.sign_in("eli@example.com", org_slug="acme", service_slug="shop")
    await visitor.sign_in("bob@example.com")

    page = await visitor.open(f"{PAGE}/{people.ids['eli']}")

    assert "<code>end_users.manage</code>" in page.text
    assert "disabled" in page.text
    assert (await visitor.open(f"{PAGE}/{people.ids['eli']}/end")).status == 403


async def test_the_tabs_say_what_a_role_lacks(people: Team, visitor: Visitor) -> None:
    people.custom_role("clerk", "end_users.view")
    people.add("hal", "clerk")
    await visitor.sign_in("hal@example.com")

    page = await visitor.open(PAGE)

    for capability in ("org.members.view", "org.members.manage", "integrations.manage"):
        assert f"(needs <code>{capability}</code>)" in page.text
    assert (await visitor.open("/app/organizations/acme/people")).status == 403


async def test_the_file_has_every_end_user_that_is_found_and_no_formula(
    world: World, people: Team, ann: Visitor
) -> None:
    world.connection.execute("UPDATE plans SET name = '=cmd()'")
    use(world, people.ids["gus"])

    everything = await ann.open(f"{PAGE}/end-users.csv")
    found = await ann.open(f"{PAGE}/end-users.csv?search=eli")

    rows = {row["email"].partition("@")[0]: row for row in csv.DictReader(everything.text.splitlines())}
    assert sorted(rows) == ["eli", "fay", "gus"]
    assert (rows["gus"]["plans"], rows["gus"]["services"], rows["gus"]["state"]) == ("'=cmd()", "desk shop", "active")
    assert (rows["eli"]["state"], rows["eli"]["second_factor"]) == ("added", "")
    assert [row["email"] for row in csv.DictReader(found.text.splitlines())] == ["eli@example.com"]


async def test_an_end_user_of_another_organization_is_not_found(world: World, people: Team, ann: Visitor) -> None:
    globex, eve = world.organization("globex"), world.user("eve@example.com")
    world.link(globex, world.service(globex, "shop").id, eve)

    for path in (f"{PAGE}/{eve}", f"{PAGE}/{eve}/end", f"{PAGE}/{people.ids['bob']}"):
        assert (await ann.open(path)).status == 404
    assert names((await ann.open(f"{PAGE}?search=eve")).text) == []
    assert sorted(names((await ann.open(f"{PAGE}?service=shop")).text)) == ["eli", "fay", "gus"]
