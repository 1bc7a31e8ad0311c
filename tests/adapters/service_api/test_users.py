"""The users of a service are paged and counted right, however many changes are counted in advance."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.service_api import users as service_users
from adapters.postgres.service_api.users import PAGE, PAGE_OF_NEWEST, PostgresServiceUsers
from core.service_api import users
from core.services.api_keys import presented
from tests.drawing import drawn_numbers
from tests.plans import explained, rows_read, tables_read_whole
from tests.transactions import transaction_on
from tests.world.builder import Builder

KEY = f"sk_abc123_{'k' * 43}"
PAGE_USERS = 3
RUNBOOK = Path(__file__).parents[3] / "ops" / "runbooks" / "service-users.md"


class Shop:
    """A service with users, and with the milestones close together."""

    def __init__(self, builder: Builder) -> None:
        self.connection = builder.connection
        self._builder = builder
        organization_id = builder.organization()
        self._organization_id = organization_id
        self.service_id = builder.service(organization_id).id
        builder.connection.execute(
            """
            INSERT INTO api_keys (id, organization_id, service_id, name, prefix, key_hash, permissions, created_at)
            VALUES (gen_random_uuid(), %s, %s, 'k', %s, %s, '{}', now())
            """,
            (organization_id, self.service_id, presented(KEY).prefix, presented(KEY).token_hash),
        )

    @property
    def stored(self) -> PostgresServiceUsers:
        transaction = transaction_on(self.connection)
        transaction.api_key = presented(KEY)
        return PostgresServiceUsers(transaction)

    def add(self, *numbers: int) -> None:
        """Link users, whose ids follow the numbers."""
        for number in numbers:
            user_id = UUID(int=number)
            self.connection.execute(
                "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, now(), now())",
                (user_id, f"user-{number}@example.com"),
            )
            self._builder.link(self._organization_id, self.service_id, user_id)

    def remove(self, *numbers: int) -> None:
        """Delete accounts of users."""
        self.connection.execute("DELETE FROM users WHERE id = ANY (%s)", ([UUID(int=number) for number in numbers],))

    def count(self, limit: int = 1_000) -> int:
        """Count changes, and add milestones."""
        with self.connection.transaction():
            counted = self.stored.count_changes(limit)
        self.add_milestones()
        return counted

    def add_milestones(self) -> int:
        with self.connection.transaction():
            return self.stored.add_milestones()

    def page(self, offset: int, limit: int = PAGE_USERS) -> tuple[list[int], int]:
        found = self.stored.defer_page_of_key(limit=limit, offset=offset)()
        return [user.id.int for user in found.users], found.total

    def all_pages(self) -> list[int]:
        """List the users of all pages, and check that each page has the right total."""
        total = self.page(0)[1]
        pages = [self.page(offset) for offset in range(0, total + PAGE_USERS, PAGE_USERS)]
        assert {found for _, found in pages} == {total}
        return [number for numbers, _ in pages for number in numbers]

    def milestones(self) -> list[int]:
        rows = self.connection.execute(
            "SELECT users FROM service_user_milestones WHERE user_id <> %s ORDER BY users", (UUID(int=2**128 - 1),)
        )
        return [users for (users,) in rows]


@pytest.fixture
def shop(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A service without users; every fifth user gets a milestone."""
    monkeypatch.setattr(service_users, "MILESTONE_USERS", 5)
    return Shop(builder)


def test_users_are_paged_from_the_newest_account_before_anything_is_counted(shop: Shop) -> None:
    shop.add(3, 1, 2, 5, 4)

    assert shop.all_pages() == [5, 4, 3, 2, 1]


def test_the_pages_are_the_same_after_everything_was_counted(shop: Shop) -> None:
    shop.add(*range(1, 48))

    assert shop.count() == 47
    assert shop.milestones() == [5, 10, 15, 20, 25, 30, 35, 40, 45]
    assert shop.all_pages() == list(range(47, 0, -1))
    assert shop.count() == 0


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", range(12))
def test_any_changes_between_any_counts_keep_the_pages_right(shop: Shop, seed: int) -> None:
    [number] = drawn_numbers([seed])
    chance = random.Random(number)
    present: set[int] = set()
    for _ in range(25):
        match chance.choice(["add", "add", "remove", "count", "milestones"]):
            case "add":
                new = set(chance.sample(range(1, 400), 12)) - present
                shop.add(*new)
                present |= new
            case "remove" if present:
                gone = set(chance.sample(sorted(present), min(len(present), 7)))
                shop.remove(*gone)
                present -= gone
            case "count":
                shop.count(chance.choice([3, 10, 1_000]))
            case _:
                shop.add_milestones()

        assert shop.all_pages() == sorted(present, reverse=True)


def test_a_service_that_was_deleted_meanwhile_is_left_out(shop: Shop) -> None:
    shop.add(1, 2)
    shop.connection.execute("DELETE FROM services")

    assert shop.count() == 4
    assert shop.connection.execute("SELECT FROM service_user_milestones").fetchall() == []
    assert shop.connection.execute("SELECT FROM service_user_changes").fetchall() == []


def test_two_counters_never_count_at_once(shop: Shop, raw_connection: Any) -> None:
    shop.add(1)
    with raw_connection.transaction():
        raw_connection.execute("SELECT pg_advisory_xact_lock(hashtext('gatehouse.service_user_counting'))")

        assert shop.count() == 0

    assert shop.count() == 1


def test_the_use_cases_of_the_counter_do_both_steps(shop: Shop, transact: Callable[..., Any]) -> None:
    shop.add(*range(1, 12))

    assert transact(users.count_changes, 4) == 4
    assert transact(users.count_changes, 100) == 7
    assert transact(users.add_milestones) == 2
    assert shop.milestones() == [5, 10]
    assert shop.all_pages() == list(range(11, 0, -1))


def test_another_key_finds_nobody(shop: Shop) -> None:
    shop.add(1)
    stored = shop.stored
    stored._transaction.api_key = presented(KEY[:-1] + "x")

    page = stored.defer_page_of_key(limit=10, offset=0)()

    assert (page.users, page.total) == ([], 0)


def test_the_runbook_finds_a_wrong_number_and_counts_again(shop: Shop) -> None:
    shop.add(*range(1, 48))
    shop.count()
    [check, repair] = re.findall(r"^ *```sql\n(.*?)^ *```$", RUNBOOK.read_text(), re.MULTILINE | re.DOTALL)
    right = shop.connection.execute(check.encode()).fetchall()
    # What a restore of one table does.
    shop.connection.execute("ALTER TABLE service_users DISABLE TRIGGER service_users_changed")
    shop.remove(7, 12)
    shop.connection.execute("ALTER TABLE service_users ENABLE TRIGGER service_users_changed")

    wrong = shop.connection.execute(check.encode()).fetchall()
    for statement in repair.split(";"):
        shop.connection.execute(statement.encode())
    shop.add_milestones()

    assert right == []
    assert wrong == [(shop.service_id, "shop", 47, 45)]
    assert shop.connection.execute(check.encode()).fetchall() == []
    assert len(shop.all_pages()) == 45


@pytest.mark.plans
@pytest.mark.parametrize("offset", [0, 2_500, 4_990])
@pytest.mark.long
def test_a_page_anywhere_reads_few_rows(builder: Builder, offset: int) -> None:
    shop = Shop(builder)
    connection = builder.connection
    connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, n || '@example.com', now(), now() FROM generate_series(1, 5000) AS n
        """
    )
    connection.execute(
        """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at)
        SELECT s.id, s.organization_id, u.id, now() FROM users u, services s
        """
    )
    assert shop.count(10_000) == 5_000
    connection.execute(
        "VACUUM ANALYZE service_users, users, service_user_milestones, service_user_changes", prepare=False
    )

    plan = explained(
        connection,
        PAGE_OF_NEWEST if offset == 0 else PAGE,
        {"prefix": presented(KEY).prefix, "key_hash": presented(KEY).token_hash, "limit": 50, "offset": offset},
    )

    assert tables_read_whole(plan) <= {"api_keys", "service_user_changes", "service_user_milestones"}
    assert rows_read(plan, "service_users") <= service_users.MILESTONE_USERS * 2 + 50
    assert rows_read(plan, "users") <= 50
