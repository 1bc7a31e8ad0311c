"""The page of the directory of an organization."""

from __future__ import annotations

import csv
import re

import pytest

from tests.shown_text import shows
from tests.world.directory import Directory, insert_directory
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/people/directory"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def directory(world: World) -> Directory:
    """An organization with an owner, a member who was invited, and a directory."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    world.connection.execute("UPDATE organizations SET max_users = 100")
    return insert_directory(team)


@pytest.fixture
async def ann(directory: Directory, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    assert directory
    await visitor.sign_in("ann@example.com")
    return visitor


async def provision(directory: Directory, name: str, **fields: object) -> str:
    """Provision a member; return the id."""
    answer = await directory.request("POST", "/Users", {"userName": name, **fields})
    assert answer.status == 201, answer.text
    return answer.json["id"]


def emails(text: str) -> list[str]:
    """List the members that the page shows."""
    return re.findall(r">([\w-]+)@example\.com</a>", text.partition("<table")[2])


async def test_the_members_of_the_directory_are_found_by_address_and_user_name(
    world: World, directory: Directory, ann: Visitor
) -> None:
    cid = await provision(directory, "Cid@example.com", displayName=HOSTILE, externalId="00u1")
    await provision(directory, "dora@example.com", active=False)
    world.connection.execute("UPDATE scim_profiles SET user_name = 'CORP\\cid' WHERE user_id = %s", (cid,))

    page = await ann.open(PAGE)

    assert sorted(emails(page.text)) == ["cid", "dora"]
    assert "2 found" in page.text
    assert HOSTILE not in page.text
    assert "00u1" in page.text
    assert page.text.count("Deactivated by your directory") == 1
    assert emails((await ann.open(f"{PAGE}?search=CID@")).text) == ["cid"]
    assert emails((await ann.open(f"{PAGE}?search=corp%5Cc")).text) == ["cid"]
    assert "No member of the directory has this" in (await ann.open(f"{PAGE}?search=bob")).text


async def test_the_tokens_and_what_was_refused_are_shown(directory: Directory, ann: Visitor) -> None:
    before = await ann.open(PAGE)
    await provision(directory, "cid@example.com")
    refused = await directory.request("POST", "/Users", {"userName": "cid@example.com"})
    after = await ann.open(PAGE)

    assert "The directory has not called yet." in before.text
    assert "No request of your directory has failed lately." in before.text
    assert refused.status == 409
    assert "The directory called last on" in after.text
    assert "POST /scim/v2/Users" in after.text
    assert "409" in after.text


async def test_without_a_directory_the_page_says_how_to_connect_one(
    world: World, directory: Directory, ann: Visitor
) -> None:
    world.connection.execute("DELETE FROM scim_tokens")

    page = await ann.open(PAGE)

    assert "No directory is connected." in page.text
    assert 'href="/app/organizations/acme/provisioning"' in page.text
    assert "The directory has provisioned no member yet." in page.text
    assert "Refused lately" not in page.text


async def test_a_long_list_goes_on_and_the_file_has_all(world: World, directory: Directory, ann: Visitor) -> None:
    for number in range(30):
        user_id = world.user(f"p-{number:02}@example.com")
        world.member(directory.organization_id, user_id)
        world.connection.execute(
            "INSERT INTO scim_profiles (organization_id, user_id, user_name, formatted_name, updated_at)"
            " VALUES (%s, %s, %s, '=cmd()', now())",
            (directory.organization_id, user_id, f"p-{number:02}@example.com"),
        )

    first = await ann.open(f"{PAGE}?search=p-")
    [following] = re.findall(r'href="([^"]+after=[^"]+)"', first.text)
    second = await ann.open(following.replace("&amp;", "&"))
    file = await ann.open(f"{PAGE}/directory.csv?search=p-")

    assert "30 found" in first.text
    assert "30 found" in second.text
    assert sorted(emails(first.text) + emails(second.text)) == [f"p-{number:02}" for number in range(30)]
    rows = list(csv.DictReader(file.text.splitlines()))
    assert len(rows) == 30
    assert {row["name"] for row in rows} == {"'=cmd()"}
    assert (await ann.open(f"{PAGE}?after=%00")).status in {200, 400}


async def test_the_page_takes_the_capability_of_the_log(directory: Directory, visitor: Visitor) -> None:
    await provision(directory, "cid@example.com")
    directory.team.custom_role("it", "integrations.manage")
    directory.team.add("eli", "it")
    await visitor.sign_in("eli@example.com")

    page = await visitor.open(PAGE)

    assert "cid@example.com" in page.text
    assert emails(page.text) == []


async def test_another_organization_s_directory_is_not_shown(world: World, directory: Directory, ann: Visitor) -> None:
    globex = world.organization("globex")
    eve = world.user("eve@example.com")
    world.member(globex, eve)
    world.connection.execute(
        "INSERT INTO scim_profiles (organization_id, user_id, user_name, updated_at) VALUES (%s, %s, 'eve', now())",
        (globex, eve),
    )

    assert not shows((await ann.open(f"{PAGE}?search=eve")).text.partition("<table")[2], "eve")
    assert "0 found" in (await ann.open(f"{PAGE}?search=eve")).text
