"""No directory sees or changes what belongs to another organization."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world.directory import Directory, assert_scim_refused, insert_directory
from tests.world.world import World

ADA = "ada@example.com"
GLOBEX = f"scim_live_globex_{'g' * 43}"


@pytest.fixture
def other(directory: Directory) -> Directory:
    """The directory of another organization, with an owner and a member."""
    team = directory.world.team("globex")
    team.add("boss", "owner")
    team.add("clerk", "member")
    return insert_directory(team, GLOBEX)


def everything_of(directory: Directory) -> list[tuple[Any, ...]]:
    """List what belongs to an organization and its members."""
    world: World = directory.world
    return world.rows(
        """
        SELECT 'm', m::text FROM memberships m WHERE organization_id = %(id)s
        UNION ALL SELECT 'p', p::text FROM scim_profiles p WHERE organization_id = %(id)s
        UNION ALL SELECT 'o', o::text FROM organizations o WHERE id = %(id)s
        UNION ALL SELECT 'u', u::text FROM users u JOIN memberships m ON m.user_id = u.id
                  WHERE m.organization_id = %(id)s
        ORDER BY 1, 2
        """.replace("%(id)s", f"'{directory.organization_id}'")
    )


async def test_users_of_another_organization_are_neither_found_nor_changed(
    directory: Directory, other: Directory
) -> None:
    clerk = other.team.ids["clerk"]
    before = everything_of(other)

    for method, body in [
        ("GET", None),
        ("PUT", {"userName": "new@example.com"}),
        ("PATCH", {"Operations": [{"op": "replace", "path": "active", "value": False}]}),
        ("DELETE", None),
    ]:
        assert_scim_refused(await directory.request(method, f"/Users/{clerk}", body), 404)
    assert everything_of(other) == before


async def test_neither_lists_nor_filters_nor_counts_show_another_organization(
    directory: Directory, other: Directory
) -> None:
    await other.create(ADA, externalId="1", displayName="Ada")
    clerk = other.team.ids["clerk"]

    total = (await directory.request("GET", "/Users?count=0")).json["totalResults"]
    assert total == 3
    for text in (f'userName eq "{ADA}"', 'externalId eq "1"', f'id eq "{clerk}"', 'displayName eq "Ada"'):
        assert (await directory.filtered(text)).json["totalResults"] == 0, text
    assert (await directory.filtered("id pr or not (id pr)")).json["totalResults"] == total
    assert (await directory.filtered(f'members eq "{clerk}"', "Groups")).json["totalResults"] == 0
    assert (await directory.filtered('displayName eq "Globex"', "Groups")).json["totalResults"] == 0


async def test_the_group_of_another_organization_is_neither_found_nor_changed(
    directory: Directory, other: Directory
) -> None:
    before = everything_of(other)

    for method, body in [
        ("GET", None),
        ("PUT", {"members": []}),
        ("PATCH", {"Operations": [{"op": "remove", "path": "members"}]}),
        ("DELETE", None),
    ]:
        assert_scim_refused(await directory.request(method, f"/Groups/{other.organization_id}", body), 404)
    assert everything_of(other) == before


async def test_a_member_of_another_organization_is_no_known_account(directory: Directory, other: Directory) -> None:
    answer = await directory.put_group(other.team.ids["clerk"])

    assert_scim_refused(answer, 400, "invalidValue")


async def test_a_shared_user_survives_the_deletion_by_one_organization(directory: Directory, other: Directory) -> None:
    mine = await directory.create(ADA, displayName="Mine")
    theirs = await other.create("ADA@example.com", displayName="Theirs", externalId="t")
    directory.world.connection.execute("UPDATE memberships SET confirmed_at = now()")

    assert mine["id"] == theirs["id"]
    assert (await directory.request("DELETE", f"/Users/{mine['id']}")).status == 204
    assert await other.show(theirs["id"]) == theirs


async def test_what_one_directory_says_of_a_shared_user_another_one_does_not_see(
    directory: Directory, other: Directory
) -> None:
    mine = await directory.create(ADA, displayName="Mine", externalId="m")
    theirs = await other.create("ADA@example.com", displayName="Theirs")

    await directory.patch(mine["id"], {"op": "replace", "value": {"displayName": "New", "active": False}})

    assert await other.show(theirs["id"]) == theirs
    assert (await directory.show(mine["id"]))["userName"] == ADA


async def test_the_log_of_another_organization_is_not_shown(directory: Directory, other: Directory) -> None:
    await other.create(ADA)

    log = (await directory.team.request("owner", "GET", "/scim-log")).json

    assert log == {"entries": [], "total": 0}
