"""Migration 0004: what becomes of changes of address that were asked for under the earlier rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from core.secrets import hash_token

OLD, NEW = "old@example.com", "new@example.com"


class Before:
    """A database before the migration, with accounts that have changed their address an hour ago."""

    def __init__(self, connection: RawConnection) -> None:
        self.connection = connection

    def value(self, query: str, *values: Any) -> Any:
        """Return the first column of the only row."""
        [(value,)] = self.connection.execute(query.encode(), values).fetchall()
        return value

    def user(self, email: str, *, is_verified: bool = False) -> UUID:
        """Insert an account of two days."""
        return self.value(
            """
            INSERT INTO users (id, email, email_verified_at, created_at, updated_at)
            VALUES (gen_random_uuid(), %s, CASE WHEN %s THEN now() END, now() - interval '2 days', now())
            RETURNING id
            """,
            email,
            is_verified,
        )

    def token(self, purpose: str, user_id: UUID, email: str, *, hours_ago: int = 1) -> bytes:
        """Insert a link that is valid for another day."""
        token_hash = hash_token(f"{purpose} {user_id} {email}")
        self.connection.execute(
            """
            INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at)
            VALUES (%s, %s, %s, %s, now() - make_interval(hours => %s), now() + interval '1 day')
            """,
            (token_hash, purpose, user_id, email, hours_ago),
        )
        return token_hash

    def membership(self, user_id: UUID, role: str, *, days_ago: int) -> None:
        """Insert a membership in an organization of its own."""
        self.connection.execute(
            """
            WITH made AS (INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
                          SELECT gen_random_uuid(), gen_random_uuid()::text, 'Acme', 'active', id, now(), now()
                          FROM   tiers WHERE name = 'free'
                          RETURNING id)
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            SELECT gen_random_uuid(), id, %s, %s, now() - make_interval(days => %s) FROM made
            """,
            (user_id, role, days_ago),
        )

    def migrate(self) -> None:
        """Apply the migration."""
        [applied] = migrations.migrate(self.connection, lambda _: None, migrations.known()[:4])
        assert str(applied) == "0004_email_changes"

    def account(self, user_id: UUID) -> tuple[str, bool]:
        """Return the address of an account, and whether it is verified."""
        query = "SELECT email, email_verified_at IS NOT NULL FROM users WHERE id = %s"
        [found] = self.connection.execute(query, (user_id,)).fetchall()
        return found


@pytest.fixture
def before(empty_database_url: str) -> Iterator[Before]:
    """A database with the schema before the migration."""
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _: None, migrations.known()[:3])
        yield Before(connection)


def test_an_account_returns_to_its_proved_address_and_keeps_the_change_as_a_request(before: Before) -> None:
    user_id = before.user(NEW)
    before.token("undo_email_change", user_id, OLD)
    link = before.token("verify_email", user_id, NEW)

    before.migrate()

    assert before.account(user_id) == (OLD, True)
    assert before.value("SELECT purpose FROM one_time_tokens WHERE token_hash = %s", link) == "change_email"
    assert before.value("SELECT data ? 'signed_in_at' FROM one_time_tokens WHERE token_hash = %s", link) is True


def test_of_several_changes_the_last_proved_address_counts(before: Before) -> None:
    user_id = before.user(NEW)
    before.token("undo_email_change", user_id, "first@example.com", hours_ago=3)
    before.token("undo_email_change", user_id, OLD, hours_ago=1)

    before.migrate()

    assert before.account(user_id) == (OLD, True)


def test_what_was_given_to_the_new_address_ends(before: Before) -> None:
    user_id = before.user(NEW)
    before.token("undo_email_change", user_id, OLD)
    before.membership(user_id, "admin", days_ago=0)
    before.membership(user_id, "owner", days_ago=1)

    before.migrate()

    assert before.connection.execute("SELECT role FROM memberships").fetchall() == [("owner",)]


@pytest.mark.parametrize("is_verified", [True, False])
def test_no_old_link_undoes_a_change(before: Before, *, is_verified: bool) -> None:
    user_id = before.user(NEW, is_verified=is_verified)
    before.token("undo_email_change", user_id, OLD)

    before.migrate()

    assert before.value("SELECT used_at IS NOT NULL FROM one_time_tokens") is True
    assert before.account(user_id) == ((NEW, True) if is_verified else (OLD, True))


def test_an_account_stays_unverified_when_another_one_has_its_old_address(before: Before) -> None:
    user_id = before.user(NEW)
    before.user(OLD)
    before.token("undo_email_change", user_id, OLD)

    before.migrate()

    assert before.account(user_id) == (NEW, False)


def test_an_account_stays_unverified_when_it_owns_an_organization_that_it_joined_since(before: Before) -> None:
    user_id = before.user(NEW)
    before.token("undo_email_change", user_id, OLD)
    before.membership(user_id, "owner", days_ago=0)

    before.migrate()

    assert before.account(user_id) == (NEW, False)


def test_a_new_account_that_waits_for_its_verification_is_unchanged(before: Before) -> None:
    user_id = before.user(NEW)
    link = before.token("verify_email", user_id, NEW)

    before.migrate()

    assert before.account(user_id) == (NEW, False)
    assert before.value("SELECT purpose FROM one_time_tokens WHERE token_hash = %s", link) == "verify_email"
