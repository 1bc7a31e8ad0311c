"""Accounts in PostgreSQL: one for each address, and no secret in a list of users."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from adapters.crypto.password_schemes import read
from adapters.postgres.accounts.users import PostgresCredentials, PostgresUsers
from adapters.postgres.driver.connection import Connection
from core.accounts.users import User
from tests.clock import SettableClock
from tests.postgres import connected
from tests.transactions import transaction_on
from tests.waiting import wait_until
from tests.world.builder import Builder


@pytest.fixture
def ada(clock: SettableClock) -> User:
    """A user who is not stored yet."""
    return User(
        id=uuid4(),
        email="ada@example.org",
        email_verified_at=None,
        is_platform_owner=False,
        created_at=clock.now,
        updated_at=clock.now,
    )


@pytest.fixture
def other(database_url: str) -> Iterator[Connection]:
    """A second connection, with a short lock timeout."""
    with connected(database_url, options="-c lock_timeout=50ms") as connection:
        yield connection


def is_a_lock_awaited(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None


def test_an_account_is_found_by_its_id_and_by_its_address(connection: Connection, ada: User) -> None:
    users = PostgresUsers(transaction_on(connection))

    assert users.add(ada)

    assert users.by_id(ada.id) == ada
    assert users.by_email("ada@example.org") == ada
    assert users.lock_by_email("ada@example.org") == ada


def test_every_query_returns_the_whole_account(connection: Connection, ada: User) -> None:
    users = PostgresUsers(transaction_on(connection))
    whole = replace(ada, is_platform_owner=True, deactivated_at=ada.created_at, mfa_enabled_at=ada.created_at)
    users.add(ada)
    users.save(whole)
    connection.execute("UPDATE users SET mfa_enabled_at = %s", (ada.created_at,))

    for found in (
        users.by_id(ada.id),
        users.lock(ada.id),
        users.by_email(ada.email),
        users.lock_by_email(ada.email),
        *users.lock_platform_owners(),
    ):
        assert found == whole


def test_an_unknown_id_or_address_is_not_found(connection: Connection) -> None:
    users = PostgresUsers(transaction_on(connection))

    assert users.by_id(uuid4()) is None
    assert users.by_email("ada@example.org") is None
    assert users.lock_by_email("ada@example.org") is None


def test_an_address_has_one_account(connection: Connection, ada: User) -> None:
    users = PostgresUsers(transaction_on(connection))
    users.add(ada)

    assert not users.add(replace(ada, id=uuid4()))

    assert users.by_email(ada.email) == ada


def test_of_two_concurrent_registrations_of_an_address_one_wins(
    connection: Connection, database_url: str, ada: User
) -> None:
    second_was_added: list[bool] = []

    def add_second() -> None:
        with connected(database_url) as second:
            second_was_added.append(PostgresUsers(transaction_on(second)).add(replace(ada, id=uuid4())))

    racer = threading.Thread(target=add_second)
    with connection.transaction():
        first_was_added = PostgresUsers(transaction_on(connection)).add(ada)
        racer.start()
        wait_until(lambda: is_a_lock_awaited(connection))
    racer.join()

    assert (first_was_added, second_was_added) == (True, [False])


def test_a_changed_account_is_stored(connection: Connection, ada: User, clock: SettableClock) -> None:
    users = PostgresUsers(transaction_on(connection))
    users.add(ada)
    later = clock.now + timedelta(days=1)
    changed = replace(ada, email_verified_at=later, is_platform_owner=True, updated_at=later, deactivated_at=later)

    users.save(changed)

    assert users.by_id(ada.id) == changed


def test_a_change_affects_one_account(connection: Connection, ada: User) -> None:
    users = PostgresUsers(transaction_on(connection))
    grace = replace(ada, id=uuid4(), email="grace@example.org")
    users.add(ada)
    users.add(grace)

    users.save(replace(ada, is_platform_owner=True))

    assert users.by_id(grace.id) == grace


def test_a_locked_account_cannot_be_changed_by_another_transaction(
    connection: Connection, other: Connection, ada: User
) -> None:
    PostgresUsers(transaction_on(connection)).add(ada)

    with connection.transaction():
        PostgresUsers(transaction_on(connection)).lock_by_email(ada.email)

        PostgresUsers(transaction_on(other)).save(replace(ada, is_platform_owner=True))
        with pytest.raises(psycopg.errors.LockNotAvailable):
            other.flush()


def test_only_platform_owners_are_listed_as_such(connection: Connection, ada: User) -> None:
    users = PostgresUsers(transaction_on(connection))
    owner = replace(ada, id=uuid4(), email="grace@example.org", is_platform_owner=True)
    users.add(ada)
    users.add(owner)

    assert users.lock_platform_owners() == (owner,)


def test_one_transaction_at_a_time_locks_the_platform_owners(connection: Connection, other: Connection) -> None:
    with connection.transaction():
        PostgresUsers(transaction_on(connection)).lock_platform_owners()

        with pytest.raises(psycopg.errors.LockNotAvailable):
            PostgresUsers(transaction_on(other)).lock_platform_owners()

    assert PostgresUsers(transaction_on(other)).lock_platform_owners() == ()


def test_a_password_is_stored_for_one_account(connection: Connection, ada: User) -> None:
    PostgresUsers(transaction_on(connection)).add(ada)
    PostgresUsers(transaction_on(connection)).add(replace(ada, id=uuid4(), email="grace@example.org"))

    PostgresCredentials(transaction_on(connection)).set_password_hash(ada.id, "$argon2id$…")

    stored = connection.execute("SELECT email, password_hash FROM users ORDER BY email").fetchall()
    assert stored == [("ada@example.org", "$argon2id$…"), ("grace@example.org", None)]


def test_listing_users_can_never_select_a_password_hash() -> None:
    assert "password_hash" not in inspect.getsource(PostgresUsers)
    assert {field.name for field in fields(User)}.isdisjoint({"password_hash", "password"})


def test_the_database_refuses_an_address_over_the_maximum_length(transact: Callable[..., Any], ada: User) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        transact(lambda uow: uow.users.add(replace(ada, email="a" * 250 + "@x.yz")))


def test_each_kind_of_hash_but_ours_has_one_decoy_of_the_same_cost(connection: Connection, builder: Builder) -> None:
    bcrypt = ("$2b$06$" + "c" * 53, "$2b$06$" + "d" * 53, "bcrypt_sha256$$2b$07$" + "e" * 53)
    others = (
        f"pbkdf2_sha256$1000$salt${'b' * 42}A=",
        f"pbkdf2_sha256$1000$another-salt${'c' * 42}A=",
        f"$pbkdf2-sha512$i=500${'b' * 21}A${'b' * 85}A",
        f"scrypt$16$salt$8$2${'b' * 85}A==",
        f"$scrypt$ln=4,r=8,p=1${'b' * 21}A${'b' * 42}A",
        f"argon2$argon2id$v=19$m=32,t=1,p=2${'b' * 21}A${'b' * 42}A",
    )
    ours = f"$argon2id$v=19$m=19456,t=2,p=1${'b' * 21}A${'b' * 42}A"
    hashes = [*bcrypt, *others, ours, "unreadable", None]
    for number, password_hash in enumerate(hashes):
        builder.user(f"user.{number}@example.com", password_hash=password_hash)
    credentials = PostgresCredentials(transaction_on(connection))

    decoys = list(credentials.defer_decoys()())

    def costs(encoded_hashes: Iterable[str]) -> set[tuple[Any, ...]]:
        return {(stored.family, stored.work) for stored in map(read, encoded_hashes) if stored is not None}

    assert len(decoys) == len(set(decoys)) == 7
    assert costs(decoys) == costs([*bcrypt, *others])
    assert dict(credentials.count_by_decoy())["$2b$06$" + "." * 53] == 2
    assert not any(letter * 20 in decoy for decoy in decoys for letter in "bcde")
