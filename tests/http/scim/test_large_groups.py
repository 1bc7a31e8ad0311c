"""Groups with many members and many rules: what a request costs the event loop.

Calls of Python functions are counted, because they are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from core.parts import ROWS_AT_ONCE_MAX
from tests.application import Answer
from tests.calls import Calls, counted_calls
from tests.world.directory import Directory

WITHOUT_MEMBERS: Final = "?excludedAttributes=members"
# Of a request with one member and one rule.
CALLS_MAX: Final = 3_000
CALLS_OF_MEMBER_MAX: Final = 20
CALLS_OF_RULE_MAX: Final = 50
# Of a member whose role changes, with an audit entry and an event.
CALLS_OF_CHANGE_MAX: Final = 30
Send = Callable[[], Awaitable[Answer]]


def add_members(groups: Directory, number: int) -> Sequence[UUID]:
    """Insert members of the organization; return the ids of all that were inserted so far."""
    execute = groups.world.connection.execute
    execute("UPDATE organizations SET max_users = 100000 WHERE id = %s", (groups.organization_id,))
    execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), gen_random_uuid() || '@example.com', now(), now() FROM generate_series(1, %s)
        """,
        (number,),
    )
    execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        SELECT gen_random_uuid(), %s, id, 'member', now() FROM users
        ON     CONFLICT DO NOTHING
        """,
        (groups.organization_id,),
    )
    rows = groups.world.rows("SELECT user_id FROM memberships WHERE role = 'member' ORDER BY user_id")
    return [user_id for (user_id,) in rows]


def add_ruled_groups(groups: Directory, number: int) -> Sequence[UUID]:
    """Insert groups of the directory with all members, and a rule for each; return the ids of the groups."""
    execute, ids = groups.world.connection.execute, [uuid4() for _ in range(number)]
    values = {"organization_id": groups.organization_id, "ids": ids, "owner": groups.team.ids["owner"]}
    for statement in (
        """
        INSERT INTO directory_authorities (id, organization_id, maker_role)
        VALUES (gen_random_uuid(), %(organization_id)s, 'owner')
        ON     CONFLICT DO NOTHING
        """,
        """
        INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)
        SELECT id, %(organization_id)s, id, now(), now() FROM unnest(%(ids)s::uuid[]) AS id
        """,
        """
        INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)
        SELECT a.organization_id, g.id, m.user_id, a.id
        FROM   directory_authorities a
        JOIN   memberships m ON m.organization_id = a.organization_id AND m.role <> 'owner'
        CROSS  JOIN unnest(%(ids)s::uuid[]) AS g (id)
        WHERE  a.organization_id = %(organization_id)s
        """,
        """
        INSERT INTO group_rules (id, organization_id, place, group_id, role, made_by, created_at)
        SELECT gen_random_uuid(), %(organization_id)s, n + place, id, 'sales', %(owner)s, now()
        FROM   unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, place), (SELECT count(*) FROM group_rules) AS c (n)
        """,
    ):
        execute(statement, values)
    return ids


def named(ids: Sequence[UUID]) -> list[dict[str, str]]:
    return [{"value": str(one)} for one in ids]


async def calls_of(send: Send, status: int = 200) -> Calls:
    """Return the calls of a request."""
    with counted_calls() as calls:
        answer = await send()
    assert answer.status == status, answer.text
    return calls


async def test_a_change_that_changes_nothing_costs_no_call_for_each_rule_and_member(groups: Directory) -> None:
    groups.team.custom_role("sales", "services.view")
    costs: dict[tuple[int, int], int] = {}
    for members in (60, 240):
        ids = add_members(groups, 60 if members == 60 else 180)
        for rules in (10, 40):
            groups.world.connection.execute("DELETE FROM group_rules")
            [group_id, *_] = add_ruled_groups(groups, rules)
            operation = {"op": "add", "path": "members", "value": named(ids)}

            def change(group_id: UUID = group_id, operation: Any = operation) -> Awaitable[Answer]:
                return groups.change_group(f"{group_id}{WITHOUT_MEMBERS}", operation)

            await calls_of(change)
            before = groups.left_behind()[:2]
            costs[rules, members] = (await calls_of(change)).number
            assert groups.left_behind()[:2] == before

    of_rules, of_members = (costs[40, 60] - costs[10, 60]) / 30, (costs[10, 240] - costs[10, 60]) / 180
    assert of_rules <= CALLS_OF_RULE_MAX, costs
    assert of_members <= CALLS_OF_MEMBER_MAX, costs
    assert costs[10, 60] <= CALLS_MAX + 10 * CALLS_OF_RULE_MAX + 60 * CALLS_OF_MEMBER_MAX, costs
    # Of both there are as many calls as of each, and none for each pair.
    assert abs(costs[40, 240] - costs[40, 60] - costs[10, 240] + costs[10, 60]) <= 100, costs


async def test_a_large_group_is_made_in_parts_between_which_others_go_on(groups: Directory) -> None:
    ids = add_members(groups, 2 * ROWS_AT_ONCE_MAX + 10)
    body = {"displayName": "All", "members": named(ids)}

    made = await calls_of(lambda: groups.request("POST", f"/Groups{WITHOUT_MEMBERS}", body), 201)

    assert made.number <= CALLS_MAX + len(ids) * CALLS_OF_MEMBER_MAX
    assert made.longest_stretch <= 3 * ROWS_AT_ONCE_MAX


async def test_roles_of_many_are_given_in_parts_between_which_others_go_on(groups: Directory) -> None:
    ids = add_members(groups, 2 * ROWS_AT_ONCE_MAX + 10)
    groups.team.custom_role("sales", "services.view")
    [group_id] = add_ruled_groups(groups, 1)
    operation = {"op": "add", "path": "members", "value": named(ids)}

    given = await calls_of(lambda: groups.change_group(f"{group_id}{WITHOUT_MEMBERS}", operation))

    roles = groups.world.rows("SELECT role, count(*) FROM memberships GROUP BY role ORDER BY role")
    assert roles == [("admin", 1), ("owner", 1), ("sales", len(ids))]
    assert len(groups.world.events("user.role_updated")) == len(ids)
    assert given.number <= CALLS_MAX + len(ids) * (CALLS_OF_MEMBER_MAX + CALLS_OF_CHANGE_MAX)
    assert given.longest_stretch <= ROWS_AT_ONCE_MAX * CALLS_OF_CHANGE_MAX


async def test_members_are_shown_without_a_call_for_each(groups: Directory) -> None:
    add_members(groups, 30)
    [small] = add_ruled_groups(groups, 1)
    add_members(groups, 300)
    [large] = add_ruled_groups(groups, 1)
    costs: list[int] = []
    for group_id in (small, large):
        for path in (
            f"/Groups/{group_id}",
            f"/Groups/{group_id}?attributes=members.value",
            f'/Groups?filter=id eq "{group_id}"',
        ):
            send: Send = lambda path=path: groups.request("GET", path.replace(" ", "%20"))  # noqa: E731
            await calls_of(send)
            costs.append((await calls_of(send)).number)

    shown = (await groups.request("GET", f"/Groups/{large}?attributes=members.value")).json["members"]
    assert len(shown) > 300
    assert shown[0].keys() == {"value"}
    assert all(abs(one - other) <= 200 for one, other in zip(costs[:3], costs[3:], strict=True)), costs
