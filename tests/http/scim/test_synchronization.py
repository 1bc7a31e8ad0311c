"""The same synchronization twice changes nothing the second time, and conditions guard against lost updates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.application import Answer
from tests.world.directory import GROUP, USER, Directory, assert_scim_refused

ADA: dict[str, Any] = {
    "schemas": [USER],
    "userName": "Ada@example.com",
    "externalId": "00u1",
    "name": {"formatted": "Ada Lovelace", "givenName": "Ada", "familyName": "Lovelace"},
    "displayName": "Ada",
    "emails": [{"value": "Ada@example.com", "type": "work", "primary": True}],
    "active": True,
}


async def synchronize(directory: Directory) -> list[Any]:
    """Do what a directory does for a user and the group, and return the resources at the end."""
    found = (await directory.filtered(f'userName eq "{ADA["userName"]}"')).json["Resources"]
    user = found[0] if found else (await directory.request("POST", "/Users", ADA)).json
    path = f"/Users/{user['id']}"
    await directory.request("PUT", path, ADA)
    await directory.patch(
        user["id"],
        {"op": "Replace", "path": "displayName", "value": "Ada"},
        {"op": "Add", "path": 'emails[type eq "work"].value', "value": "ada@EXAMPLE.com"},
        {"op": "Replace", "path": "active", "value": "True"},
        {"op": "Replace", "value": {"name.givenName": "Ada", "externalId": "00u1"}},
    )
    ids = [user["id"], *directory.team.ids.values()]
    await directory.put_group(*ids)
    await directory.patch_group({"op": "add", "path": "members", "value": [{"value": user["id"]}]})
    group = (await directory.request("GET", f"/Groups/{directory.organization_id}")).json
    return [await directory.show(user["id"]), group]


async def test_the_second_synchronization_leaves_nothing_behind(directory: Directory) -> None:
    first = await synchronize(directory)
    before = directory.left_behind()
    directory.world.clock.advance(timedelta(hours=1))

    second = await synchronize(directory)

    assert second == first
    assert directory.left_behind() == before


async def test_a_member_that_nobody_described_stays_so_when_nothing_is_new(directory: Directory) -> None:
    member = await directory.show(str(directory.team.ids["member"]))

    answer = await directory.request("PUT", f"/Users/{member['id']}", member)

    assert answer.json == member
    assert directory.world.rows("SELECT FROM scim_profiles") == []


async def test_deactivating_twice_is_recorded_once(directory: Directory) -> None:
    member = str(directory.team.ids["member"])
    off = {"op": "replace", "path": "active", "value": False}

    versions = [(await directory.patch(member, off)).headers["ETag"] for _ in range(2)]

    assert versions[0] == versions[1]
    assert len(directory.world.audit_entries("user.deactivated")) == 1


async def put(directory: Directory, user_id: str, headers: dict[str, str]) -> Answer:
    return await directory.request("PUT", f"/Users/{user_id}", ADA | {"displayName": "New"}, headers=headers)


async def patch(directory: Directory, user_id: str, headers: dict[str, str]) -> Answer:
    return await directory.patch(user_id, {"op": "add", "path": "displayName", "value": "New"}, headers=headers)


async def delete(directory: Directory, user_id: str, headers: dict[str, str]) -> Answer:
    return await directory.request("DELETE", f"/Users/{user_id}", headers=headers)


@pytest.mark.parametrize("change", [put, patch, delete])
async def test_a_change_of_another_version_is_412(
    directory: Directory, change: Callable[[Directory, str, dict[str, str]], Awaitable[Answer]]
) -> None:
    user = (await directory.request("POST", "/Users", ADA)).json
    version = user["meta"]["version"]

    refused = await change(directory, user["id"], {"If-Match": 'W/"other"'})
    changed = await change(directory, user["id"], {"If-Match": f'"x", {version}'})

    assert_scim_refused(refused, 412)
    assert changed.status in {200, 204}


async def test_any_version_will_do_for_a_star(directory: Directory) -> None:
    user = await directory.create()

    assert (await patch(directory, user["id"], {"If-Match": "*"})).status == 200


async def test_a_group_has_versions_too(directory: Directory) -> None:
    path, body = f"/Groups/{directory.organization_id}", {"schemas": [GROUP], "members": []}
    version = (await directory.request("GET", path)).headers["ETag"]

    assert_scim_refused(await directory.request("PUT", path, body, headers={"If-Match": '"other"'}), 412)
    assert (await directory.request("PUT", path, body, headers={"If-Match": version})).status == 200
    add = {"op": "add", "path": "members", "value": []}
    assert_scim_refused(await directory.patch_group(add, headers={"If-Match": version}), 412)
