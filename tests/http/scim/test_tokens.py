"""SCIM tokens: creating, listing and revoking them, and calling with one."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from core.prefixed_tokens import USE_RECORDED_EVERY
from core.rate_limits import RateLimit
from core.scim.tokens import TOKENS_MAX
from core.secrets import hash_token
from tests.application import Answer, serving_with_rate_limits
from tests.world.directory import TOKEN, Directory, assert_scim_refused, insert_scim_token
from tests.world.team import Team
from tests.world.world import assert_refused


async def create(team: Team, **body: Any) -> Answer:
    return await team.request("admin", "POST", "/scim-tokens", body={"name": "Entra"} | body)


async def test_a_token_is_shown_once_and_stored_as_a_hash(team: Team) -> None:
    answer = await create(team, expires_at="2027-01-01T00:00:00Z")

    token = answer.json
    assert answer.status == 200, answer.text
    assert re.fullmatch(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}", token["token"])
    assert token == {
        "id": token["id"],
        "name": "Entra",
        "token": token["token"],
        "prefix": token["token"][:16],
        "groups": "organization",
        "created_at": "2026-02-03T04:05:06Z",
        "expires_at": "2027-01-01T00:00:00Z",
        "made_by_key": None,
    }
    listed = (await team.request("admin", "GET", "/scim-tokens")).json
    shown = {name: value for name, value in token.items() if name != "token"} | {"last_used_at": None}
    assert listed == {"tokens": [shown], "total": 1}
    stored = team.world.rows("SELECT t::text FROM scim_tokens t")
    assert token["token"] not in str(stored)


async def test_a_token_opens_the_interface_until_it_is_revoked(team: Team) -> None:
    token = (await create(team)).json
    directory = Directory(team, token["token"])
    assert (await directory.request("GET", "/Users")).status == 200

    revoked = await team.request("admin", "DELETE", f"/scim-tokens/{token['id']}")

    assert (revoked.status, revoked.content) == (204, b"")
    assert_scim_refused(await directory.request("GET", "/Users"), 401)
    again = await team.request("admin", "DELETE", f"/scim-tokens/{token['id']}")
    assert_refused(again, 404, "NOT_FOUND")


async def test_creating_and_revoking_are_recorded(team: Team) -> None:
    token = (await create(team)).json
    await team.request("admin", "DELETE", f"/scim-tokens/{token['id']}")

    entries = team.world.audit_entries("scim_token.created") + team.world.audit_entries("scim_token.revoked")
    assert len(entries) == 2
    assert {details["scim_token_id"] for *_, details in entries} == {token["id"]}
    assert {actor_id for _, actor_id, *_ in entries} == {team.ids["admin"]}


async def test_an_invalid_name_or_end_is_400(team: Team, subtests: pytest.Subtests) -> None:
    for body in (
        {"name": ""},
        {"name": "x" * 101},
        {"expires_at": "2026-02-03T04:05:06Z"},
        {"expires_at": "tomorrow"},
        {"expires_at": "9999-12-31T23:59:59-14:00"},
    ):
        with subtests.test(body=body):
            assert_refused(await create(team, **body), 400, "BAD_REQUEST")


async def test_an_organization_has_a_maximum_of_tokens(team: Team) -> None:
    for number in range(TOKENS_MAX):
        insert_scim_token(team.world, team.organization_id, f"scim_live_{number:06}_{'x' * 43}")

    assert_refused(await create(team), 400, "BAD_REQUEST")


async def test_another_token_is_401(directory: Directory, subtests: pytest.Subtests) -> None:
    for token in (TOKEN[:-1], TOKEN[:-1] + "u", "nonsense", "a.b.c", f"sk_abc123_{'k' * 43}"):
        with subtests.test(token=token):
            answer = await Directory(directory.team, token).request("GET", "/Users")

            assert_scim_refused(answer, 401)
            assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_no_token_is_401(directory: Directory) -> None:
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"X-Api-Key": TOKEN}):
        assert_scim_refused(await directory.world.client.get("/scim/v2/Users", headers=headers), 401)


async def test_an_access_token_opens_nothing_and_a_scim_token_nothing_else(directory: Directory) -> None:
    token = await directory.team.token("owner")

    assert_scim_refused(await Directory(directory.team, token).request("GET", "/Users"), 401)
    assert_refused(await directory.world.client.get("/api/user", token=TOKEN), 401, "JWT_ERROR")


async def test_an_expired_token_is_401(directory: Directory) -> None:
    directory.world.connection.execute("UPDATE scim_tokens SET expires_at = %s", (directory.world.clock(),))

    assert_scim_refused(await directory.request("GET", "/Users"), 401)
    assert_scim_refused(await directory.request("POST", "/Users", {"userName": 1}), 401)


async def test_an_inactive_organization_is_403_before_invalid_input(
    directory: Directory, subtests: pytest.Subtests
) -> None:
    for status in ("pending", "suspended", "rejected"):
        with subtests.test(status=status):
            directory.world.set_organization_status(directory.organization_id, status)

            for method, path, body in [
                ("GET", "/Users", None),
                ("GET", "/Schemas", None),
                ("POST", "/Users", {"userName": 1}),
                ("DELETE", f"/Users/{directory.team.ids['member']}", None),
                ("POST", "/Groups", {}),
            ]:
                assert_scim_refused(await directory.request(method, path, body), 403)


async def test_the_last_use_is_recorded_once_a_minute(directory: Directory) -> None:
    world, used = directory.world, "SELECT last_used_at FROM scim_tokens"
    await directory.request("GET", "/Users")
    first = world.value(used)
    world.clock.advance(USE_RECORDED_EVERY - timedelta(seconds=1))
    await directory.request("GET", "/Users")
    second = world.value(used)
    world.clock.advance(timedelta(seconds=1))
    await directory.request("GET", "/Users")

    assert (first, second, world.value(used)) == (first, first, first + USE_RECORDED_EVERY)


async def test_a_token_has_a_rate_limit_of_its_own(directory: Directory) -> None:
    client = serving_with_rate_limits(directory.world.installation)
    limiter, holder = client.application._limiter, hash_token(TOKEN).hex()
    for _ in range(RateLimit.SCIM_TOKEN.burst - 1):
        limiter.take((RateLimit.SCIM_TOKEN,), holder)

    last, limited = [await client.get("/scim/v2/Schemas", token=TOKEN) for _ in range(2)]

    assert last.status == 200
    assert_scim_refused(limited, 429)
    assert int(limited.headers["Retry-After"]) >= 1
    assert (await client.get("/scim/v2/ServiceProviderConfig", token="other")).status == 401


async def test_a_token_finds_the_organization_or_groups_of_the_directory(team: Team) -> None:
    made = await create(team, groups="directory")
    refused = await create(team, groups="both")

    assert made.json["groups"] == "directory"
    assert (refused.status, [detail["field"] for detail in refused.json["details"]]) == (400, ["groups"])
