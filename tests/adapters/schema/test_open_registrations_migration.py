"""The migration `open_registrations`: what becomes of accounts whose address was unproved before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from core.secrets import hash_token

NUMBER = next(one.version for one in migrations.known() if one.name == "open_registrations")


class Before:
    """A database before the migration."""

    def __init__(self, connection: RawConnection) -> None:
        self.connection = connection
        self.reported: list[str] = []

    def user(self, email: str, *, password_hash: str | None = "a hash", is_verified: bool = False) -> UUID:
        """Insert an account of an hour."""
        [(user_id,)] = self.connection.execute(
            """
            INSERT INTO users (id, email, email_verified_at, password_hash, created_at, updated_at)
            SELECT gen_random_uuid(), %s, CASE WHEN %s THEN now() END, %s, date_trunc('hour', now()), now()
            RETURNING id
            """,
            (email, is_verified, password_hash),
        ).fetchall()
        return user_id

    def link(self, user_id: UUID, name: str, *, minutes_later: int = 0, is_used: bool = False) -> None:
        """Insert a link that was mailed so many minutes after the registration."""
        self.connection.execute(
            """
            INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at, used_at)
            SELECT %s, 'verify_email', id, email, created_at + make_interval(mins => %s), now() + interval '1 day',
                   CASE WHEN %s THEN now() END
            FROM   users
            WHERE  id = %s
            """,
            (hash_token(name), minutes_later, is_used, user_id),
        )

    def migrate(self) -> None:
        """Apply the migration."""
        [applied] = migrations.migrate(self.connection, self.reported.append, migrations.known()[:NUMBER])
        assert applied.version == NUMBER

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        return self.connection.execute(query.encode(), values).fetchall()

    def registration_of(self, name: str) -> str | None:
        """Return the id of the registration to which a link belongs."""
        [(found,)] = self.rows(
            "SELECT data ->> 'registration_id' FROM one_time_tokens WHERE token_hash = %s", hash_token(name)
        )
        return found


@pytest.fixture
def before(empty_database_url: str) -> Iterator[Before]:
    """A database with the schema before the migration."""
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, migrations.known()[: NUMBER - 1])
        yield Before(connection)


def test_an_account_with_an_unproved_address_keeps_its_password_without_an_end(before: Before) -> None:
    user_id = before.user("ada@example.com")
    before.user("verified@example.com", is_verified=True)
    before.user("passwordless@example.com", password_hash=None)

    before.migrate()

    kept = before.rows("SELECT id, user_id, email, password_hash, expires_at FROM open_registrations")
    assert kept == [(user_id, user_id, "ada@example.com", "a hash", None)]


def test_the_link_of_the_registration_goes_on_as_its_link_and_a_later_one_keeps_no_password(before: Before) -> None:
    user_id = before.user("ada@example.com")
    before.link(user_id, "mailed at the registration")
    before.link(user_id, "requested later", minutes_later=5)
    before.link(user_id, "used", is_used=True)

    before.migrate()

    assert before.registration_of("mailed at the registration") == str(user_id)
    assert before.registration_of("requested later") is None
    assert before.registration_of("used") is None


def test_it_says_how_many(before: Before) -> None:
    before.link(before.user("ada@example.com"), "mailed at the registration")
    before.user("bob@example.com")

    before.migrate()

    [said] = [line for line in before.reported if "keep their password" in line]
    assert "2 accounts" in said
    assert "1 of them" in said


def test_a_removed_account_takes_its_registrations_along(before: Before) -> None:
    before.user("ada@example.com")
    before.migrate()

    before.rows("DELETE FROM users RETURNING id")

    assert before.rows("SELECT id FROM open_registrations") == []
