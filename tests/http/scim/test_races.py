"""Changes of members at the same moment lose no member, and leave no organization without an admin."""

from __future__ import annotations

from functools import partial

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.directory import Directory, insert_directory

ADA = {"userName": "ada@example.com"}
OFF = {"op": "replace", "path": "active", "value": False}


def count_of(directory: Directory) -> int:
    """Return the number of members, which the totals must agree with."""
    world = directory.world
    members = world.value("SELECT count(*) FROM memberships WHERE organization_id = %s", directory.organization_id)
    total = world.value("SELECT members FROM membership_totals WHERE organization_id = %s", directory.organization_id)
    assert members == total
    return members


async def test_of_two_creations_of_a_user_one_succeeds(directory: Directory) -> None:
    answers = await at_once(*[partial(directory.request, "POST", "/Users", ADA)] * 4)

    assert statuses_of(answers) == [201, 409, 409, 409]
    assert count_of(directory) == 4


async def test_the_last_seat_is_taken_once(directory: Directory) -> None:
    directory.world.connection.execute("UPDATE organizations SET max_users = 4")
    sends = [partial(directory.request, "POST", "/Users", {"userName": f"{name}@example.com"}) for name in "abc"]

    answers = await at_once(*sends)

    assert statuses_of(answers) == [201, 400, 400]
    assert count_of(directory) == 4


async def test_two_admins_are_deactivated_at_once(directory: Directory) -> None:
    ids = [str(directory.team.ids["admin"]), str(directory.team.add("second", "admin"))]

    answers = await at_once(*[partial(directory.patch, user_id, OFF) for user_id in ids])

    assert statuses_of(answers) == [200, 200]
    active = "SELECT count(*) FROM memberships WHERE role = 'admin' AND suspended_at IS NULL"
    assert directory.world.value(active) == 0


async def test_two_admins_are_removed_at_once_in_different_ways(directory: Directory) -> None:
    first, second = directory.team.ids["admin"], directory.team.add("second", "admin")

    answers = await at_once(
        partial(directory.request, "DELETE", f"/Users/{first}"),
        partial(directory.patch_group, {"op": "remove", "path": f'members[value eq "{second}"]'}),
        partial(directory.put_group),
    )

    assert set(statuses_of(answers)) <= {200, 204, 404}
    assert directory.world.value("SELECT count(*) FROM memberships WHERE role = 'admin'") == 0
    count_of(directory)


async def test_a_replacement_of_the_members_and_other_changes_come_one_after_the_other(directory: Directory) -> None:
    member = directory.team.ids["member"]
    leaving = await directory.team.token("member")

    async def leave() -> Answer:
        return await directory.world.client.post(f"{directory.team.path}/leave", token=leaving)

    answers = await at_once(
        partial(directory.put_group, member),
        leave,
        partial(directory.request, "POST", "/Users", ADA),
        partial(directory.patch, str(member), OFF),
    )

    assert all(answer.status in {200, 201, 204, 400, 403, 404} for answer in answers), [one.text for one in answers]
    # A person added after the replacement is a member, and one added before it is not; the member may leave last.
    assert count_of(directory) in {1, 2, 3, 4}
    events = directory.world.value("SELECT count(*) FROM events WHERE type IN ('user.joined', 'user.removed')")
    entries = directory.world.value(
        "SELECT count(*) FROM audit_entries WHERE action IN ('user.joined', 'user.removed')"
    )
    assert events == entries


async def test_a_sign_in_and_a_deactivation_leave_no_session(directory: Directory) -> None:
    directory.world.user("ada@example.com")
    user = (await directory.request("POST", "/Users", ADA)).json

    async def sign_in() -> Answer:
        return await directory.world.log_in("ada@example.com", org_slug=directory.team.slug)

    answers = await at_once(sign_in, partial(directory.patch, user["id"], OFF), sign_in)

    assert all(answer.status in {200, 403} for answer in answers)
    # A session that began just before the deactivation has ended; one just after it has no access.
    tokens = [answer.json["access_token"] for answer in answers if "access_token" in (answer.json or {})]
    path = f"{directory.team.path}/roles"
    statuses = [(await directory.world.client.get(path, token=token)).status for token in tokens]
    assert set(statuses) <= {401, 403}


async def test_concurrent_changes_of_a_group_lose_no_member(groups: Directory) -> None:
    second = insert_directory(groups.team, f"scim_live_xyz789_{'u' * 43}", groups="directory")
    names = [f"person{number}" for number in range(6)]
    for name in names:
        groups.team.add(name, "member")
    group_id = await groups.create_group("Sales", "admin")

    answers = await at_once(
        *[partial((groups, second)[number % 2].put_in, group_id, name) for number, name in enumerate(names)],
        partial(groups.take_out, group_id, "admin"),
    )

    assert statuses_of(answers) == [200] * 7
    [(members, counted)] = groups.world.rows(
        "SELECT members, (SELECT count(*) FROM directory_group_members) FROM directory_groups"
    )
    assert members == counted == 6


async def test_of_two_creations_of_a_group_one_succeeds(groups: Directory) -> None:
    answers = await at_once(*[partial(groups.request, "POST", "/Groups", {"displayName": "Sales"})] * 4)

    assert statuses_of(answers) == [201, 409, 409, 409]


async def test_a_member_who_leaves_while_a_group_gets_them_is_in_no_group(groups: Directory) -> None:
    groups.team.custom_role("sales", "services.view")
    group_id = await groups.create_group("Sales")
    body = {"rules": [{"source": "scim", "group": group_id, "role": "sales"}]}
    assert (await groups.team.request("owner", "PUT", "/group-rules", body=body)).status == 200
    await groups.team.token("owner")

    await at_once(
        partial(groups.put_in, group_id, "member"),
        partial(groups.team.request, "owner", "POST", f"/members/{groups.team.ids['member']}"),
    )

    assert groups.team.role_of("member") is None
    assert groups.world.rows("SELECT members FROM directory_groups") == [(0,)]


async def test_two_admins_by_rules_leave_their_group_at_once(groups: Directory) -> None:
    groups.team.add("second", "member")
    group_id = await groups.create_group("Admins", "admin", "second")
    body = {"rules": [{"source": "scim", "group": group_id, "role": "admin"}]}
    assert (await groups.team.request("owner", "PUT", "/group-rules", body=body)).status == 200

    await at_once(*[partial(groups.take_out, group_id, name) for name in ("admin", "second")])

    assert sorted(groups.team.role_of(name) or "" for name in ("admin", "second")) == ["member", "member"]
