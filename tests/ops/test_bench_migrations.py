"""`ops/bench --migrations`: it finds a migration that locks a large table while it goes through rows."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest

from adapters.postgres.schema import migrations
from adapters.postgres.schema.migration_files import NO_TRANSACTION, Migration
from ops.benchmarks.large_database import FULL, released_migrations
from ops.benchmarks.migrating import MigrationCheck, MigrationFigures, measure
from ops.seeding.copying import seed
from ops.seeding.population import Plan

SEEDED = 200
USERS = Migration(
    version=1,
    name="users",
    sql=f"""
        CREATE TABLE users (id integer, age integer);
        CREATE TABLE tiers (id integer);
        INSERT INTO users SELECT n, n FROM generate_series(1, {SEEDED}) AS n;
        ANALYZE users;
    """,
)


@pytest.fixture
def users(empty_database_url: str) -> str:
    """The address of a database with a part of the users of the full size."""
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, ignore, [USERS])
    return empty_database_url


def ignore(_line: str) -> None:
    """Discard a progress report."""


def measured(url: str, *lines: str) -> MigrationFigures:
    [figures] = measure(
        url,
        [USERS, Migration(version=2, name="next", sql="\n".join(lines))],
        share=SEEDED / FULL["users"],
        say=ignore,
    )
    return figures


def is_too_long(figures: MigrationFigures) -> bool:
    return MigrationCheck(figures=[figures], is_full=False).is_over


@pytest.mark.parametrize(
    "lines",
    [
        ["ALTER TABLE users ADD CHECK (age > 0);"],
        ["ALTER TABLE users ALTER COLUMN age SET NOT NULL;"],
        ["ALTER TABLE users ALTER COLUMN age TYPE bigint;"],
        ["ALTER TABLE users ADD COLUMN size integer;", "CREATE INDEX users_of_age ON users (age);"],
        ["ALTER TABLE users ADD COLUMN size integer;", "UPDATE users SET size = age;"],
        ["DO $$ BEGIN ALTER TABLE users ADD COLUMN size integer; UPDATE users SET size = age; END $$;"],
        [NO_TRANSACTION, "ALTER TABLE users ALTER COLUMN age SET NOT NULL;"],
    ],
)
def test_a_migration_that_goes_through_a_large_table_under_its_lock_is_found(users: str, lines: list[str]) -> None:
    assert is_too_long(measured(users, *lines))


@pytest.mark.parametrize(
    "lines",
    [
        ["ALTER TABLE users ADD COLUMN size integer NOT NULL DEFAULT 7;"],
        ["ALTER TABLE users ADD CONSTRAINT adult CHECK (age > 0) NOT VALID;"],
        ["UPDATE users SET age = age + 1;", "ALTER TABLE users ADD COLUMN size integer;"],
        [NO_TRANSACTION, "CREATE INDEX CONCURRENTLY IF NOT EXISTS users_of_age ON users (age);"],
        [
            NO_TRANSACTION,
            "ALTER TABLE users ADD CONSTRAINT users_of_an_age CHECK (age IS NOT NULL) NOT VALID;",
            "ALTER TABLE users VALIDATE CONSTRAINT users_of_an_age;",
            "ALTER TABLE users ALTER COLUMN age SET NOT NULL;",
        ],
        ["INSERT INTO tiers SELECT id FROM users;", "ALTER TABLE tiers ALTER COLUMN id SET NOT NULL;"],
    ],
)
def test_a_migration_that_locks_a_large_table_for_a_moment_is_accepted(users: str, lines: list[str]) -> None:
    assert not is_too_long(measured(users, *lines))


def test_the_time_of_a_lock_is_sampled(users: str) -> None:
    figures = measured(users, "ALTER TABLE users ADD COLUMN size integer;", "SELECT pg_sleep(0.15);")

    assert figures.held_ms["users"] > 100
    assert MigrationCheck(figures=[figures], is_full=True).is_over
    assert not is_too_long(figures)
    assert "**over**" in MigrationCheck(figures=[figures], is_full=True).table()


@pytest.mark.long
def test_the_last_release_has_the_first_migrations() -> None:
    released = released_migrations()

    assert released == migrations.known()[: len(released)]
    assert len(released) >= 25


def test_the_schema_of_the_last_release_is_seeded(empty_database_url: str) -> None:
    plan = Plan(**dict.fromkeys(FULL, 40), until=datetime(2026, 1, 31, tzinfo=UTC))
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, ignore, released_migrations())
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        seed(connection, plan, ignore)

        [(users,)] = connection.execute("SELECT count(*) FROM users")

    assert users == plan.users
