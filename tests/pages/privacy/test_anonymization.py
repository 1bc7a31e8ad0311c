"""The pages of the personal data of one person in an organization."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.clock import SettableClock
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/people"
CID = "cid@example.com"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, an admin and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.add("cid", "member")
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def data_of(people: Team, name: str = "cid") -> str:
    """Return the address of the page of a person's data."""
    return f"{PAGE}/personal-data/{people.ids[name]}"


async def test_the_owner_downloads_what_belongs_to_the_organization(world: World, people: Team, ann: Visitor) -> None:
    globex = world.organization("globex")
    world.member(globex, people.ids["cid"], "member")
    await world.sign_in(CID, org_slug="globex")
    await world.sign_in(CID, org_slug="acme")
    world.connection.execute("UPDATE users SET name = 'Cid' WHERE email = %s", (CID,))

    member = await ann.open(f"{PAGE}/{people.ids['cid']}")
    page = await ann.follow(member, data_of(people))
    download = await ann.submit(page, f"{data_of(people)}/download")

    package = json.loads(download.text)
    assert download.headers["Content-Disposition"] == 'attachment; filename="personal-data.json"'
    assert [one["organization_slug"] for one in package["memberships"]] == ["acme"]
    assert (package["login_events_count"], package["name"]) == (1, None)
    [(organization_id, target)] = world.audit_entries("user.exported", "organization_id", "target_id")
    assert (organization_id, target) == (people.organization_id, str(people.ids["cid"]))


async def test_a_download_asks_to_sign_in_again_after_ten_minutes(
    people: Team, ann: Visitor, clock: SettableClock, world: World
) -> None:
    page = await ann.open(data_of(people))
    clock.advance(timedelta(minutes=11))

    asked = await ann.submit(page, f"{data_of(people)}/download")

    assert "Sign in again" in asked.text
    assert world.audit_entries("user.exported") == []


async def test_of_people_who_have_not_consented_and_of_platform_owners_nothing_is_exported(
    world: World, people: Team, ann: Visitor
) -> None:
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", (people.ids["cid"],))
    world.connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (people.ids["bob"],))

    for name, status in (("cid", 404), ("bob", 403)):
        for path in (data_of(people, name), f"{data_of(people, name)}/remove"):
            assert (await ann.open(path)).status == status


async def test_the_owner_removes_the_data_of_a_person_after_typing_the_address(
    world: World, people: Team, ann: Visitor
) -> None:
    shop = world.service(people.organization_id, "shop")
    world.subscription(world.plan(people.organization_id, shop.id, "Gold"), people.ids["cid"])
    given = world.service(people.organization_id, "given")
    world.connection.execute("UPDATE subscriptions SET billing_subscription_id = 'sub_1'")
    world.link(people.organization_id, given.id, people.ids["cid"])
    world.subscription(world.plan(people.organization_id, given.id, "Free"), people.ids["cid"])
    await world.sign_in(CID, org_slug="acme", service_slug="shop")
    remove = f"{data_of(people)}/remove"

    asked = await ann.follow(await ann.open(data_of(people)), remove)
    refused = await ann.submit(asked, remove, email="dora@example.com", note="asked by mail")
    done = await ann.submit(refused, remove, email=f" {CID.upper()} ")

    assert "One session here ends." in asked.text
    assert "The access to 2 of your services ends." in asked.text
    assert "One subscription is cancelled" in asked.text
    assert refused.status == 400
    assert 'value="asked by mail"' in refused.text
    assert "The personal data are removed." in done.text
    assert CID not in done.text.partition("<table")[2]
    [(details,)] = world.audit_entries("user.anonymized", "details")
    assert details["note"] == "asked by mail"
    assert (await ann.open(remove)).status == 404


async def test_a_person_of_another_organization_and_the_owner_stay(world: World, people: Team, ann: Visitor) -> None:
    world.member(world.organization("globex"), people.ids["cid"], "member")
    world.user("eve@example.com")
    people.user("eli")

    shared = await ann.open(f"{data_of(people)}/remove")
    own = await ann.open(f"{data_of(people, 'ann')}/remove")
    stranger = await ann.open(f"{data_of(people, 'eli')}/remove")

    assert (shared.status, own.status, stranger.status) == (403, 403, 404)
    assert "Only the owner of every organization of this person" in shared.text


async def test_the_data_of_an_end_user_are_exported_and_stay(world: World, people: Team, ann: Visitor) -> None:
    shop = world.service(people.organization_id, "shop")
    world.link(people.organization_id, shop.id, people.user("fay"))
    await world.sign_in("fay@example.com", org_slug="acme", service_slug="shop")

    page = await ann.open(data_of(people, "fay"))
    download = await ann.submit(page, f"{data_of(people, 'fay')}/download")

    assert "so the account is their own" in page.text
    assert f'href="{PAGE}/end-users/{people.ids["fay"]}"' in page.text
    assert json.loads(download.text)["login_events_count"] == 1
    assert (await ann.open(f"{data_of(people, 'fay')}/remove")).status == 403


async def test_an_admin_neither_downloads_nor_removes(people: Team, visitor: Visitor) -> None:
    await visitor.sign_in("bob@example.com")

    for path in (data_of(people), f"{data_of(people)}/remove"):
        assert (await visitor.open(path)).status == 403
