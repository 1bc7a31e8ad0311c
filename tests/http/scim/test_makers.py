"""A SCIM token changes only members whose role its maker could give."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.mail.mail import MailMessage, MailTemplate
from core.organizations.access import Capability
from core.scim.kept_members import MAILED_MAX, RECORDED_MAX
from entrypoints.http.scim.dialect import KEPT_SCHEMA
from tests.application import Answer
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.world.directory import TOKEN, Directory, assert_scim_refused, insert_scim_token
from tests.world.team import Team
from tests.world.world import assert_refused

OFF = {"op": "replace", "path": "active", "value": False}
ON = {"op": "replace", "path": "active", "value": True}
RENAMED = {"op": "replace", "path": "displayName", "value": "Renamed"}
MOVED = {"op": "replace", "path": "userName", "value": "moved@example.com"}
# What a member needs to make a token, and what else gives the custom role `viewer`.
MAKES = ("integrations.manage", "org.members.manage")
GIVES = (*MAKES, "org.roles.manage", "services.view")
KEPT = ("admin", "auditor")
OPERATIONS = (OFF, RENAMED, MOVED)


async def made_by(team: Team, name: str) -> Directory:
    """Return the directory with a token that a member has made."""
    answer = await team.request(name, "POST", "/scim-tokens", body={"name": f"of {name}"})
    assert answer.status == 200, answer.text
    WATCH.add(answer.json["token"])
    return Directory(team, answer.json["token"])


@pytest.fixture
def crew(team: Team) -> Team:
    """The team with two admins, the custom roles `viewer` and `auditor`, and a member with each."""
    team.add("second", "admin")
    team.custom_role("viewer", "services.view")
    team.custom_role("auditor", "services.view", "audit_logs.view")
    team.add("viewer", "viewer")
    team.add("auditor", "auditor")
    return team


async def ways_out(directory: Directory, user_id: str) -> list[Answer]:
    """Try everything that changes, suspends or removes a user."""
    return [
        *[await directory.patch(user_id, operation) for operation in OPERATIONS],
        await directory.request("PUT", f"/Users/{user_id}", {"userName": "other@example.com", "displayName": "Other"}),
        await directory.request("DELETE", f"/Users/{user_id}"),
    ]


@pytest.mark.parametrize("lacking", MAKES)
async def test_a_token_is_made_by_members_who_connect_directories_and_manage_members(team: Team, lacking: str) -> None:
    permissions = {str(capability) for capability in Capability} - {lacking}
    team.custom_role("nearly", *permissions)
    team.custom_role("enough", *MAKES)
    team.add("nearly", "nearly")
    team.add("enough", "enough")

    refused = await team.request("nearly", "POST", "/scim-tokens", body={"name": "Okta"})

    assert_refused(refused, 403, "FORBIDDEN")
    assert lacking in refused.json["error"]
    assert team.world.value("SELECT count(*) FROM scim_tokens") == 0
    assert (await (await made_by(team, "enough")).request("GET", "/Users")).status == 200


async def test_a_token_leaves_alone_whom_its_maker_could_not_give_the_role(crew: Team) -> None:
    crew.custom_role("connector", *GIVES)
    crew.add("connector", "connector")
    directory = await made_by(crew, "connector")
    before = crew.world.rows("SELECT user_id, role, suspended_at FROM memberships ORDER BY user_id")

    for name in ("owner", *KEPT):
        for answer in await ways_out(directory, str(crew.ids[name])):
            assert_scim_refused(answer, 403)

    assert crew.world.rows("SELECT user_id, role, suspended_at FROM memberships ORDER BY user_id") == before
    assert crew.world.value("SELECT count(*) FROM scim_profiles WHERE display_name IS NOT NULL") == 0
    taken_out = {"op": "remove", "path": "members", "value": [{"value": str(crew.ids["auditor"])}]}
    patched = await directory.patch_group(taken_out)
    group = await directory.put_group()
    assert (patched.status, group.status) == (200, 200), group.text
    assert patched.json[KEPT_SCHEMA] == [
        {"value": str(crew.ids["auditor"]), "display": "auditor@example.com", "reason": "role"}
    ]
    staying = {"owner": "owner", "admin": "role", "second": "role", "auditor": "role"}
    assert {member["value"] for member in group.json["members"]} == {str(crew.ids[name]) for name in staying}
    assert {one["display"]: one["reason"] for one in group.json[KEPT_SCHEMA]} == {
        f"{name}@example.com": reason for name, reason in staying.items()
    }


async def test_who_stays_by_the_role_is_logged_each_time_and_mailed_to_the_owner_once_a_day(
    crew: Team, clock: SettableClock
) -> None:
    insert_scim_token(crew.world, crew.organization_id, TOKEN, maker_role=None)
    directory = Directory(crew, TOKEN)

    for _ in range(3):
        await directory.put_group()
    mails = await mails_of(crew)
    clock.advance(timedelta(days=1, seconds=1))
    await directory.put_group()

    entries = [details for _, _, _, details in crew.world.audit_entries("scim.kept")]
    names = ("admin", "second", "viewer", "auditor")
    ids = {str(crew.ids[name]) for name in names}
    assert [(set(one["kept"]), one["kept_total"]) for one in entries] == [(ids, 4)] * 4
    [told] = mails
    assert (told.to, told.values["organization"], told.values["token"]) == ("owner@example.com", "Acme", "directory")
    assert set(told.values["members"].split("; ")) == {f"{name}@example.com" for name in names}
    assert len(await mails_of(crew)) == 2


async def test_of_many_who_stay_the_first_are_named_and_all_counted(crew: Team) -> None:
    insert_scim_token(crew.world, crew.organization_id, TOKEN, maker_role=None)
    for number in range(RECORDED_MAX):
        crew.add(f"admin{number}", "admin")

    answer = await Directory(crew, TOKEN).put_group()

    assert len(answer.json[KEPT_SCHEMA]) == RECORDED_MAX + 5
    [(_, _, _, details)] = crew.world.audit_entries("scim.kept")
    assert (len(details["kept"]), details["kept_total"]) == (RECORDED_MAX, RECORDED_MAX + 4)
    [told] = await mails_of(crew)
    assert told.values["members"].split("; ")[MAILED_MAX:] == [f"and {RECORDED_MAX + 4 - MAILED_MAX} more"]


async def mails_of(crew: Team) -> list[MailMessage]:
    """Return the mails about members who stay."""
    return [one for one in await crew.world.mails() if one.template is MailTemplate.SCIM_KEPT]


async def test_a_token_changes_whom_its_maker_could_give_the_role(crew: Team) -> None:
    crew.custom_role("connector", *GIVES)
    crew.add("connector", "connector")
    directory = await made_by(crew, "connector")

    for name in ("viewer", "member"):
        user_id = str(crew.ids[name])
        for operation in (RENAMED, OFF, ON):
            assert (await directory.patch(user_id, operation)).status == 200
        assert (await directory.request("DELETE", f"/Users/{user_id}")).status == 204


async def test_a_maker_who_gives_no_roles_changes_plain_members_only(crew: Team) -> None:
    crew.custom_role("connector", *MAKES, "services.view")
    crew.add("connector", "connector")
    directory = await made_by(crew, "connector")

    for answer in await ways_out(directory, str(crew.ids["viewer"])):
        assert_scim_refused(answer, 403)
    assert (await directory.patch(str(crew.ids["member"]), OFF)).status == 200


async def test_the_token_of_an_admin_changes_admins_and_leaves_the_owner_alone(crew: Team) -> None:
    directory = await made_by(crew, "admin")

    assert_scim_refused(await directory.patch(str(crew.ids["owner"]), RENAMED), 403)
    assert (await directory.patch(str(crew.ids["second"]), RENAMED, OFF)).status == 200
    assert (await directory.request("DELETE", f"/Users/{crew.ids['second']}")).status == 204


async def test_the_token_of_the_owner_renames_the_owner_and_removes_no_owner(crew: Team) -> None:
    directory = await made_by(crew, "owner")
    owner = str(crew.ids["owner"])

    assert (await directory.patch(owner, RENAMED)).status == 200
    assert_scim_refused(await directory.patch(owner, OFF), 403)
    assert_scim_refused(await directory.request("DELETE", f"/Users/{owner}"), 403)


async def test_a_token_keeps_what_its_maker_could_do_when_it_was_made(crew: Team) -> None:
    crew.custom_role("connector", *GIVES)
    crew.add("connector", "connector")
    by_connector, by_second = await made_by(crew, "connector"), await made_by(crew, "second")
    world = crew.world
    world.connection.execute("UPDATE organization_roles SET permissions = '{}' WHERE slug = 'connector'")
    assert (await crew.request("owner", "POST", f"/members/{crew.ids['second']}")).status == 200

    assert (await by_connector.patch(str(crew.ids["viewer"]), OFF)).status == 200
    assert_scim_refused(await by_connector.patch(str(crew.ids["auditor"]), OFF), 403)
    crew.add("third", "admin")
    assert (await by_second.patch(str(crew.ids["admin"]), OFF)).status == 200


async def test_an_older_token_without_a_maker_changes_plain_members_only(crew: Team) -> None:
    insert_scim_token(crew.world, crew.organization_id, TOKEN, maker_role=None)
    directory = Directory(crew, TOKEN)

    for name in ("owner", "viewer", *KEPT):
        for answer in await ways_out(directory, str(crew.ids[name])):
            assert_scim_refused(answer, 403)
    created = await directory.create()
    for user_id in (created["id"], str(crew.ids["member"])):
        assert (await directory.patch(user_id, OFF)).status == 200
        assert (await directory.patch_group({"op": "remove", "path": f'members[value eq "{user_id}"]'})).status == 200


async def test_a_request_that_changes_nothing_is_answered_for_every_member(crew: Team) -> None:
    insert_scim_token(crew.world, crew.organization_id, TOKEN, maker_role=None)
    directory = Directory(crew, TOKEN)

    answers: list[Any] = [await directory.patch(str(crew.ids[name]), ON) for name in ("owner", *KEPT)]

    assert [answer.status for answer in answers] == [200, 200, 200]


async def test_a_replacement_of_the_members_keeps_whom_the_token_leaves_alone(crew: Team) -> None:
    insert_scim_token(crew.world, crew.organization_id, TOKEN, maker_role=None)
    directory = Directory(crew, TOKEN)

    by_put = await directory.put_group()
    by_patch = await directory.patch_group({"op": "replace", "path": "members", "value": []})

    for answer in (by_put, by_patch):
        assert answer.status == 200, answer.text
    assert [crew.role_of(name) for name in ("owner", "admin", "second", "auditor", "viewer", "member")] == [
        *("owner", "admin", "admin", "auditor", "viewer", None)
    ]
