"""Transferring the ownership of an organization."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
import trio

from tests.application import Answer
from tests.world.team import Team
from tests.world.world import assert_refused


async def transfer(team: Team, by: str, to: Any) -> Answer:
    return await team.request(by, "POST", "/transfer-ownership", body={"new_owner_user_id": str(to)})


async def test_the_owner_becomes_an_admin_and_the_member_the_owner(team: Team) -> None:
    answer = await transfer(team, "owner", team.ids["member"])

    assert answer.status == 200
    assert {name: value for name, value in answer.json.items() if name != "message"} == {
        "old_owner": {"user_id": str(team.ids["owner"]), "new_role": "admin"},
        "new_owner": {"user_id": str(team.ids["member"]), "role": "owner"},
    }
    assert answer.json["message"]
    assert (team.role_of("owner"), team.role_of("member")) == ("admin", "owner")


async def test_a_transfer_publishes_one_event_and_audits_both_role_changes(team: Team) -> None:
    await transfer(team, "owner", team.ids["admin"])

    old, new = str(team.ids["owner"]), str(team.ids["admin"])
    assert team.world.events("organization.owner.changed") == [
        (team.organization_id, "owner@example.com", {"old_owner_user_id": old, "new_owner_user_id": new})
    ]
    assert team.world.events("user.role_updated") == []
    assert team.world.audit_entries("user.role_updated") == [
        (team.organization_id, team.ids["owner"], old, {"old_role": "owner", "new_role": "admin"}),
        (team.organization_id, team.ids["owner"], new, {"old_role": "admin", "new_role": "owner"}),
    ]


async def test_the_next_request_of_the_old_owner_is_refused(team: Team) -> None:
    await transfer(team, "owner", team.ids["admin"])

    assert_refused(await transfer(team, "owner", team.ids["member"]), 403, "FORBIDDEN")
    assert (await transfer(team, "admin", team.ids["owner"])).status == 200


@pytest.mark.parametrize("by", ["admin", "member"])
async def test_only_the_owner_can_transfer(team: Team, by: str) -> None:
    assert_refused(await transfer(team, by, team.ids["admin"]), 403, "FORBIDDEN")


async def test_a_custom_role_with_every_capability_cannot_transfer(team: Team) -> None:
    team.custom_role("everything", "org.settings.manage", "org.members.manage", "org.roles.manage")
    team.add("ann", "everything")

    assert_refused(await transfer(team, "ann", team.ids["member"]), 403, "FORBIDDEN")


async def test_a_user_who_is_no_member_cannot_become_the_owner(team: Team) -> None:
    elsewhere = team.world.team("bolt").add("eve", "member")

    for user_id in (elsewhere, UUID(int=1)):
        answer = await transfer(team, "owner", user_id)
        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.json["details"][0]["field"] == "new_owner_user_id"
    assert team.role_of("owner") == "owner"


async def test_the_owner_cannot_transfer_to_themselves(team: Team) -> None:
    assert_refused(await transfer(team, "owner", team.ids["owner"]), 400, "BAD_REQUEST")


async def test_a_deactivated_member_cannot_become_the_owner(team: Team) -> None:
    team.add("gone", "admin", is_active=False)

    assert_refused(await transfer(team, "owner", team.ids["gone"]), 400, "BAD_REQUEST")


async def test_a_transfer_requires_a_valid_id(team: Team, subtests: pytest.Subtests) -> None:
    for body in ({}, {"new_owner_user_id": "somebody"}, {"new_owner_user_id": None}):
        with subtests.test(body=body):
            assert_refused(await team.request("owner", "POST", "/transfer-ownership", body=body), 400, "BAD_REQUEST")


async def test_of_two_concurrent_transfers_one_wins(team: Team) -> None:
    await team.token("owner")
    answers: dict[str, int] = {}

    async def start(to: str) -> None:
        answers[to] = (await transfer(team, "owner", team.ids[to])).status

    async with trio.open_nursery() as nursery:
        nursery.start_soon(start, "admin")
        nursery.start_soon(start, "member")

    assert sorted(answers.values()) == [200, 403]
    [winner] = [name for name, status in answers.items() if status == 200]
    assert team.world.rows("SELECT user_id FROM memberships WHERE role = 'owner'") == [(team.ids[winner],)]


async def test_a_member_removed_during_the_transfer_becomes_the_owner_or_is_removed(team: Team) -> None:
    await team.token("owner")
    await team.token("admin")
    statuses: dict[str, int] = {}

    async def remove() -> None:
        statuses["remove"] = (await team.request("admin", "POST", f"/members/{team.ids['member']}")).status

    async def start() -> None:
        statuses["transfer"] = (await transfer(team, "owner", team.ids["member"])).status

    async with trio.open_nursery() as nursery:
        nursery.start_soon(remove)
        nursery.start_soon(start)

    assert (statuses["transfer"], statuses["remove"], team.role_of("member")) in [
        (200, 400, "owner"),
        (400, 200, None),
    ]
    assert team.world.value("SELECT count(*) FROM memberships WHERE role = 'owner'") == 1
