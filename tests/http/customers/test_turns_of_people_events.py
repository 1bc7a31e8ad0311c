"""Organizations take turns with events about their people, each of which is sent once, whatever happens meanwhile."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID, uuid4

import pytest
import trio

from adapters.postgres.customers.people_events import ORGANIZATIONS_MAX
from adapters.postgres.driver.connection import RawConnection
from core.customers.people_events import PublishedBatch, publish_batch
from ports.unit_of_work import UnitOfWork
from tests.waiting import waiting_for_a_lock
from tests.world.customer_backend import CustomerBackend, insert_customer_backend
from tests.world.people_events import publish_everything
from tests.world.world import World

ADDED = "customer.user_added"


class Crashed(Exception):
    """The process has ended in the middle of a transaction."""


@pytest.fixture
async def shop(world: World) -> CustomerBackend:
    """A service whose customer shares its directory, so that its vendor gets events."""
    shop = insert_customer_backend(world)
    await shop.trade.begin()
    await shop.trade.change_product(shares_directory=True)
    await publish_everything(world.installation.database)
    world.connection.execute("DELETE FROM events")
    return shop


def provision(shop: CustomerBackend, organization_id: UUID, people: int) -> set[str]:
    """Insert confirmed members of an organization in one transaction each, and return their ids."""
    ids = set[str]()
    for _ in range(people):
        user_id = shop.trade.world.user(f"{uuid4()}@example.com", password_hash=None)
        shop.trade.world.member(organization_id, user_id)
        ids.add(str(user_id))
    return ids


def told(shop: CustomerBackend, event: str = ADDED) -> list[str]:
    """Return the ids of the people in such events."""
    return [data["user_id"] for _, _, data in shop.trade.world.events(event)]


async def tell_once(shop: CustomerBackend, people_max: int, last_turn: UUID | None = None) -> PublishedBatch:
    return await shop.trade.world.installation.database.transact(publish_batch, people_max, last_turn)


def waiting(shop: CustomerBackend) -> Counter[UUID]:
    """Return how many changes of each organization wait."""
    return Counter(one for (one,) in shop.trade.world.rows("SELECT organization_id FROM customer_user_checks"))


async def test_an_organization_that_provisions_many_delays_no_other(shop: CustomerBackend) -> None:
    world = shop.trade.world
    gamma = world.team("gamma").organization_id
    world.customer(shop.trade.service, gamma, shares_directory=True)
    many = provision(shop, shop.trade.customer.organization_id, 30)
    one = provision(shop, gamma, 1)

    await tell_once(shop, 10)

    first = set(told(shop))
    assert one < first
    assert len(first) == 6
    await publish_everything(world.installation.database, people_max=10)
    assert sorted(told(shop)) == sorted(many | one)


async def test_each_organization_has_had_its_turn_before_the_next_turn_of_another_one(shop: CustomerBackend) -> None:
    organizations = [uuid4() for _ in range(ORGANIZATIONS_MAX + 3)]
    for organization_id in organizations * 2:
        shop.trade.world.connection.execute(
            """
            INSERT INTO customer_user_checks (id, organization_id, user_id, created_at)
            VALUES (gen_random_uuid(), %s, gen_random_uuid(), now())
            """,
            (organization_id,),
        )

    first = await tell_once(shop, ORGANIZATIONS_MAX)
    second = await tell_once(shop, 3, first.last_turn)

    assert first.last_turn == sorted(organizations)[ORGANIZATIONS_MAX - 1]
    assert second == PublishedBatch(has_more=True, last_turn=None)
    assert waiting(shop) == dict.fromkeys(organizations, 1)
    assert (await tell_once(shop, ORGANIZATIONS_MAX, max(organizations))).last_turn == first.last_turn


async def test_changed_roles_of_a_service_take_the_turns_of_the_vendor(shop: CustomerBackend) -> None:
    world = shop.trade.world
    world.customer(shop.trade.service, world.team("gamma").organization_id)
    world.connection.execute("UPDATE services SET role_ids = '{}' WHERE id = %s", (shop.trade.service.id,))

    await tell_once(shop, 200)

    assert waiting(shop) == {shop.trade.vendor.organization_id: 2}
    assert await publish_everything(world.installation.database) == 2


async def test_a_transaction_notes_each_person_and_customer_once(
    shop: CustomerBackend, raw_connection: RawConnection
) -> None:
    with raw_connection.transaction():
        for statement in (
            "UPDATE memberships SET role = role",
            "UPDATE users SET name = 'Somebody'",
            "UPDATE service_customers SET access = 'assigned'",
            "UPDATE service_customers SET access = 'members'",
        ):
            raw_connection.execute(statement.encode())

    assert waiting(shop) == {shop.trade.customer.organization_id: len(shop.trade.customer.ids) + 1}


async def test_a_person_of_several_customers_is_noted_for_each_where_they_have_confirmed(shop: CustomerBackend) -> None:
    world = shop.trade.world
    gamma, delta, other = (world.team(slug).organization_id for slug in ("gamma", "delta", "other"))
    for organization_id in (gamma, delta):
        world.customer(shop.trade.service, organization_id)
    for organization_id, is_confirmed in ((gamma, True), (delta, False), (other, True)):
        world.member(organization_id, shop.id_of("worker"), is_confirmed=is_confirmed)
    world.connection.execute("DELETE FROM customer_user_checks")

    world.connection.execute("UPDATE users SET name = 'Will' WHERE id = %s", (shop.id_of("worker"),))

    assert waiting(shop) == {shop.trade.customer.organization_id: 1, gamma: 1}


async def test_after_a_crash_in_between_each_is_told_once(shop: CustomerBackend) -> None:
    database = shop.trade.world.installation.database
    people = provision(shop, shop.trade.customer.organization_id, 5)

    def crash(uow: UnitOfWork) -> None:
        assert publish_batch(uow, 3).has_more
        raise Crashed

    await tell_once(shop, 2)
    with pytest.raises(Crashed):
        await database.transact(crash)
    await publish_everything(database, people_max=2)

    assert sorted(told(shop)) == sorted(people)
    assert waiting(shop) == {}


async def test_two_processes_at_once_tell_each_person_once(shop: CustomerBackend) -> None:
    database = shop.trade.world.installation.database
    people = provision(shop, shop.trade.customer.organization_id, 20)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(publish_everything, database)
    await publish_everything(database)

    assert sorted(told(shop)) == sorted(people)


async def test_while_another_process_tells_there_is_nothing_to_do(
    shop: CustomerBackend, raw_connection: RawConnection
) -> None:
    provision(shop, shop.trade.customer.organization_id, 1)
    last_turn = uuid4()

    with raw_connection.transaction():
        raw_connection.execute("SELECT pg_advisory_xact_lock(hashtext('gatehouse.customer_user_checks'))")
        meanwhile = await tell_once(shop, 10, last_turn)

    assert meanwhile == PublishedBatch(has_more=False, last_turn=last_turn)
    assert told(shop) == []
    assert (await tell_once(shop, 10)).has_more


async def test_roles_that_the_vendor_gives_meanwhile_are_what_it_is_told(
    shop: CustomerBackend, raw_connection: RawConnection
) -> None:
    await shop.sign_in("worker")
    await publish_everything(shop.trade.world.installation.database)
    worker, editor = shop.id_of("worker"), shop.trade.role_ids["editor"]
    shop.trade.world.connection.execute("UPDATE users SET name = 'Will' WHERE id = %s", (worker,))

    async with trio.open_nursery() as nursery:
        with raw_connection.transaction():
            raw_connection.execute("UPDATE customer_users SET own_role_ids = %s", ([editor],))
            raw_connection.execute("UPDATE customer_users_told SET told = told WHERE user_id = %s", (worker,))
            nursery.start_soon(tell_once, shop, 10)
            await waiting_for_a_lock(shop.trade.world.connection)

    [(_, _, changed)] = shop.trade.world.events("customer.user_changed")
    assert (changed["name"], changed["service_roles"]) == ("Will", ["editor"])


@pytest.mark.parametrize("is_ended", [True, False])
async def test_a_customer_that_ends_meanwhile_is_waited_for(
    shop: CustomerBackend, raw_connection: RawConnection, *, is_ended: bool
) -> None:
    people = provision(shop, shop.trade.customer.organization_id, 1)

    async with trio.open_nursery() as nursery:
        with raw_connection.transaction(force_rollback=not is_ended):
            raw_connection.execute("DELETE FROM service_customers")
            nursery.start_soon(tell_once, shop, 10)
            await waiting_for_a_lock(shop.trade.world.connection)

    expected: list[Any] = [] if is_ended else sorted(people)
    assert told(shop) == expected
