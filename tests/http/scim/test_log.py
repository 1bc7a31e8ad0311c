"""The provisioning log: the directory's calls and refusals, with the answers it got."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.world.directory import TOKEN, Directory
from tests.world.world import World, assert_refused


async def log(directory: Directory, query: str = "") -> dict[str, Any]:
    answer = await directory.team.request("admin", "GET", f"/scim-log{query}")
    assert answer.status == 200, answer.text
    return answer.json


async def test_a_change_is_logged_with_its_token_and_its_user(directory: Directory) -> None:
    user = await directory.create("Ada@example.com")
    await directory.patch(user["id"], {"op": "replace", "path": "active", "value": False})

    logged = await log(directory)

    assert logged["total"] == 2
    assert logged["entries"][1] == {
        "id": logged["entries"][1]["id"],
        "created_at": "2026-02-03T04:05:06Z",
        "token_id": str(directory.world.value("SELECT id FROM scim_tokens")),
        "token_name": "directory",
        "method": "POST",
        "path": "/scim/v2/Users",
        "resource_id": None,
        "user_name": "ada@example.com",
        "status": 201,
        "scim_type": None,
        "detail": None,
    }
    assert (logged["entries"][0]["method"], logged["entries"][0]["resource_id"]) == ("PATCH", user["id"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "scim_type"),
    [
        ("POST", "/Users", {"userName": "member@example.com"}, 409, "uniqueness"),
        ("POST", "/Users", {"userName": 1}, 400, "invalidValue"),
        ("GET", "/Users?filter=x", None, 400, "invalidFilter"),
        ("GET", "/Users/nonsense", None, 404, None),
        ("POST", "/Groups", {}, 501, None),
        ("DELETE", "/Users/0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22", None, 404, None),
    ],
)
async def test_a_refusal_is_logged_as_it_was_answered(
    directory: Directory, method: str, path: str, body: Any, status: int, scim_type: str | None
) -> None:
    answer = await directory.request(method, path, body)

    [entry] = (await log(directory))["entries"]
    assert (entry["status"], entry["scim_type"], entry["detail"]) == (status, scim_type, answer.json["detail"])
    assert answer.status == status
    assert (entry["method"], entry["path"]) == (method, f"/scim/v2{path.partition('?')[0]}")
    name = body.get("userName") if body else None
    assert entry["user_name"] == (name if isinstance(name, str) else None)


async def test_reading_is_not_logged_and_neither_are_strangers(directory: Directory) -> None:
    await directory.request("GET", "/Users")
    await directory.request("GET", "/Groups")
    await Directory(directory.team, TOKEN[:-1] + "u").request("DELETE", f"/Users/{directory.team.ids['member']}")
    await directory.request("GET", "/nothing")

    assert await log(directory) == {"entries": [], "total": 0}


async def test_the_log_has_pages_with_the_newest_first(directory: Directory) -> None:
    for name in ("a", "b", "c"):
        await directory.create(f"{name}@example.com")

    first, second, third = [await log(directory, f"?limit=2&page={page}") for page in (1, 2, 3)]

    names = [[entry["user_name"][0] for entry in page["entries"]] for page in (first, second, third)]
    assert names == [["c", "b"], ["a"], []]
    assert {page["total"] for page in (first, second, third)} == {3}


async def test_a_member_without_the_capability_does_not_see_it(directory: Directory) -> None:
    assert_refused(await directory.team.request("member", "GET", "/scim-log"), 403, "FORBIDDEN")


async def test_entries_are_kept_for_30_days(directory: Directory) -> None:
    world: World = directory.world
    await directory.create("old@example.com")
    world.clock.advance(timedelta(days=29, hours=23))
    await directory.create("new@example.com")

    async def sweep() -> int:
        leftover = Leftover.SCIM_LOG_ENTRIES
        return await world.installation.database.transact(housekeeping.sweep, leftover, leftover.kept_for, 100)

    assert await sweep() == 0
    world.clock.advance(timedelta(hours=2))
    assert await sweep() == 1
    assert world.rows("SELECT user_name FROM scim_log_entries") == [("new@example.com",)]
