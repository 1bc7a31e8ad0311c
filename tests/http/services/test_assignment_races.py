"""Assignments of a service beside other changes: one comes after the other, and nothing mixes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.places import Claim, Places, Share
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.waiting import eventually
from tests.world.closed_service import ClosedService, insert_closed_service
from tests.world.directory import Directory, insert_directory
from tests.world.world import World, assert_refused

Send: TypeAlias = Callable[[], Awaitable[Answer]]

# Locks of other tests are in other databases; a lock on a transaction is in none, so the waiting process counts.
WAITING = """
    SELECT count(DISTINCT waiting.pid)
    FROM   pg_locks waiting
    JOIN   pg_locks held ON held.pid = waiting.pid AND held.granted
    JOIN   pg_database d ON d.oid = held.database AND d.datname = current_database()
    WHERE  NOT waiting.granted
"""
KINDS = pytest.mark.parametrize("kind", ["role", "group", "user"])


class ApartPlaces(Places):
    """Places that do not know what their use cases lock, as in several processes."""

    def claim(self, share: Share) -> Claim:
        return super().claim(share._replace(row=None))


@pytest.fixture
def database(database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> PostgresDatabase:
    """The database as several processes use it: PostgreSQL alone keeps their requests apart."""
    monkeypatch.setattr(database.pool, "places", ApartPlaces(8))
    return database


@pytest.fixture
async def shop(world: World) -> ClosedService:
    """The service, in an organization with room; Olga and an admin, Ann, are signed in."""
    shop = insert_closed_service(world)
    world.connection.execute("UPDATE organizations SET max_users = 100")
    shop.team.add("ann", "admin")
    await at_once(*(partial(shop.team.request, name, "GET", "/services") for name in ("olga", "ann")))
    return shop


@pytest.fixture
def directory(shop: ClosedService) -> Directory:
    """The directory of the organization, which manages groups."""
    return insert_directory(shop.team, groups="directory")


async def make(shop: ClosedService, directory: Directory, kind: str) -> tuple[str, Send]:
    """Make what a service can be assigned to; return it as a subject, and the request that deletes it."""
    if kind == "role":
        shop.team.custom_role("sales", "services.view")
        return "role:sales", partial(shop.team.request, "olga", "DELETE", "/roles/sales")
    if kind == "group":
        group_id = await directory.create_group("Sales", "mia")
        return f"group:{group_id}", partial(directory.request, "DELETE", f"/Groups/{group_id}")
    mia = shop.team.ids["mia"]
    return f"user:{mia}", partial(shop.team.request, "olga", "POST", f"/members/{mia}", body={})


async def assigned(shop: ClosedService) -> list[dict[str, Any]]:
    """Return the assignments of the service, which must agree with the rows."""
    answer = await shop.team.request("olga", "GET", "/services/shop")
    assert shop.world.value("SELECT count(*) FROM service_assignments") == len(answer.json["assignments"])
    return answer.json["assignments"]


async def in_turn(shop: ClosedService, *sends: Send) -> list[Answer]:
    """Send requests that all wait before the first has stored anything; return their answers in this order."""
    answers: dict[Send, Answer] = {}

    async def keep(send: Send) -> None:
        answers[send] = await send()

    connection = shop.world.connection

    async def is_waiting(expected: int) -> bool:
        return connection.execute(WAITING).fetchone() == (expected,)

    async with trio.open_nursery() as nursery:
        with connection.transaction():
            connection.execute("LOCK TABLE services, service_assignments IN SHARE MODE")
            for number, send in enumerate(sends, 1):
                nursery.start_soon(keep, send)
                await eventually(partial(is_waiting, number))
    return [answers[send] for send in sends]


@pytest.mark.parametrize("is_turned", [False, True])
async def test_of_two_lists_at_once_the_second_is_stored_whole(shop: ClosedService, *, is_turned: bool) -> None:
    await shop.change(assignments=[{"subject": "role:admin", "roles": []}])
    one = [{"subject": "everyone", "roles": ["reader"]}, {"subject": "role:member", "roles": ["editor"]}]
    other = [{"subject": f"user:{shop.team.ids['mia']}", "roles": ["editor", "reader"]}]
    lists = [other, one] if is_turned else [one, other]

    answers = await in_turn(
        shop, *(partial(shop.change, who, assignments=given) for who, given in zip(("olga", "ann"), lists, strict=True))
    )

    assert [(answer.status, answer.json["assignments"]) for answer in answers] == [(200, given) for given in lists]
    assert await assigned(shop) == lists[1]


async def test_lists_at_once_without_an_order_of_their_own_are_stored_whole(shop: ClosedService) -> None:
    lists = [
        [{"subject": "role:member", "roles": [role]}, {"subject": "everyone", "roles": []}][:size]
        for role, size in (("editor", 1), ("reader", 2), ("editor", 2), ("reader", 1))
    ]

    answers = await at_once(*(partial(shop.change, assignments=given) for given in lists))

    assert statuses_of(answers) == [200] * 4
    assert await assigned(shop) in lists


@pytest.mark.parametrize("is_closed_first", [True, False])
async def test_a_closing_is_not_undone_by_another_change_at_once(shop: ClosedService, *, is_closed_first: bool) -> None:
    sends = [partial(shop.change, access="members"), partial(shop.change, name="Store")]

    answers = await in_turn(shop, *(sends if is_closed_first else reversed(sends)))

    assert statuses_of(answers) == [200, 200]
    read = await shop.team.request("olga", "GET", "/services/shop")
    assert (read.json["access"], read.json["name"]) == ("members", "Store")
    assert_refused(await shop.log_in("sam"), 403, "FORBIDDEN")


@KINDS
async def test_what_is_deleted_after_it_was_assigned_is_assigned_no_more(
    shop: ClosedService, directory: Directory, kind: str
) -> None:
    subject, delete = await make(shop, directory, kind)

    stored, deleted = await in_turn(shop, partial(shop.change, assignments=[{"subject": subject}]), delete)

    assert (stored.status, deleted.status in {200, 204}) == (200, True), deleted.text
    assert await assigned(shop) == []


@KINDS
async def test_what_is_deleted_before_it_is_assigned_is_unknown(
    shop: ClosedService, directory: Directory, kind: str
) -> None:
    subject, delete = await make(shop, directory, kind)

    deleted, refused = await in_turn(shop, delete, partial(shop.change, assignments=[{"subject": subject}]))

    assert deleted.status in {200, 204}, deleted.text
    assert_refused(refused, 400, "BAD_REQUEST")
    assert [one["field"] for one in refused.json["details"]] == ["assignments"]
    assert await assigned(shop) == []


@pytest.mark.parametrize("is_deleted_first", [True, False])
async def test_a_role_of_the_service_that_is_deleted_while_it_is_assigned_lets_nobody_in(
    shop: ClosedService, *, is_deleted_first: bool
) -> None:
    roles = [{"name": name, "title": name.title()} for name in ("editor", "reader")]
    mia = f"user:{shop.team.ids['mia']}"
    await shop.change(roles=roles, access="assigned")
    sends = [
        partial(shop.change, roles=roles[1:]),
        partial(shop.change, "ann", assignments=[{"subject": mia, "roles": ["editor"]}]),
    ]

    answers = await in_turn(shop, *(sends if is_deleted_first else reversed(sends)))

    assert [answer.status for answer in answers] == ([200, 400] if is_deleted_first else [200, 200])
    # What is made again is another role.
    await shop.change(roles=roles)
    assert (await shop.team.request("olga", "GET", "/services/shop")).json["assignments"] == []
    assert_refused(await shop.log_in("mia"), 403, "FORBIDDEN")


@pytest.mark.parametrize("is_deleted_first", [True, False])
async def test_a_service_that_is_deleted_leaves_no_assignment(shop: ClosedService, *, is_deleted_first: bool) -> None:
    sends = [
        partial(shop.team.request, "olga", "DELETE", "/services/shop"),
        partial(shop.change, assignments=[{"subject": "everyone"}]),
    ]

    answers = await in_turn(shop, *(sends if is_deleted_first else reversed(sends)))

    assert [answer.status for answer in answers] == ([204, 404] if is_deleted_first else [200, 204])
    assert shop.world.rows("SELECT FROM service_assignments") == []
