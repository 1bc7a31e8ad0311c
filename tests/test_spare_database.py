"""A database goes from test to test only as the first test got it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from tests.postgres import Databases
from tests.signing_keys import TABLES, first_keys

DEFINITION_CHANGES = (
    "ALTER TABLE users ADD COLUMN nickname text",
    "CREATE INDEX CONCURRENTLY ON users (created_at)",
    "ALTER TABLE users DROP CONSTRAINT users_pkey CASCADE",
    "DROP TRIGGER IF EXISTS none ON users; DROP FUNCTION first_id_at CASCADE",
    "CREATE SCHEMA elsewhere",
    "SET session_replication_role = replica; CREATE TABLE added (id int)",
    "DELETE FROM schema_migrations",
    "UPDATE schema_migrations SET version = version",
)
LASTING_NOTHING = (
    "CREATE TEMPORARY TABLE passing (id int); DROP TABLE passing",
    "CREATE TEMPORARY TABLE passing AS TABLE tiers",
    "BEGIN; ALTER TABLE users ADD COLUMN nickname text; ROLLBACK",
    "TRUNCATE users CASCADE",
)


class UnwatchedDatabases(Databases):
    """Makes databases as on a server that lets no superuser in."""

    def _make_template(self, name: str) -> None:
        with migrations.connected(self._create(name, "template0")) as connection:
            migrations.migrate(connection, lambda _: None)


@pytest.fixture(scope="module")
def own(postgres_url: str) -> Iterator[Databases]:
    """A maker of databases of its own, so that it holds a database between two tests."""
    databases = Databases(postgres_url)
    yield databases
    databases.close()


@pytest.fixture(scope="module", params=[Databases, UnwatchedDatabases])
def each(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[Databases]:
    """Another maker, of databases that note changes and of those that do not."""
    databases = request.param(postgres_url)
    yield databases
    databases.close()


def executed(databases: Databases, *statements: str, has_signing_keys: bool = False) -> str:
    """Execute statements in a database as a test does, and return its address."""
    with (
        databases.migrated(has_signing_keys=has_signing_keys) as url,
        closing(psycopg.connect(url, autocommit=True)) as connection,
    ):
        for statement in statements:
            connection.execute(statement.encode())
    return url


def keys_in(connection: RawConnection) -> list[tuple[str, str, bool]]:
    """Return the ids and states of the signing keys of all kinds, and whether they have a private half."""
    return [
        row
        for table in TABLES.values()
        for row in connection.execute(
            SQL("SELECT kid, state, private_pem_sealed <> '' FROM {}").format(Identifier(table))
        )
    ]


@pytest.mark.one_server
@pytest.mark.parametrize("change", DEFINITION_CHANGES)
def test_a_database_whose_definition_changed_is_replaced(each: Databases, change: str) -> None:
    assert executed(each, *change.split("; ")) != executed(each)


@pytest.mark.one_server
def test_a_database_with_a_setting_is_replaced(each: Databases) -> None:
    with each.migrated() as url, closing(psycopg.connect(url, autocommit=True)) as connection:
        name = Identifier(connection.info.dbname)
        connection.execute(SQL("ALTER DATABASE {} SET work_mem = '8MB'").format(name))

    assert executed(each) != url


@pytest.mark.one_server
@pytest.mark.parametrize("statements", LASTING_NOTHING)
def test_a_database_in_which_nothing_lasted_is_used_again(own: Databases, statements: str) -> None:
    assert executed(own, *statements.split("; ")) == executed(own)


@pytest.mark.one_server
def test_rows_of_a_migration_are_restored(own: Databases) -> None:
    with own.migrated() as url, closing(psycopg.connect(url, autocommit=True)) as connection:
        tiers = connection.execute("TABLE tiers ORDER BY 1").fetchall()

    first = executed(own, "DELETE FROM tiers WHERE true")

    with own.migrated() as url, closing(psycopg.connect(url, autocommit=True)) as connection:
        assert url == first
        assert connection.execute("TABLE tiers ORDER BY 1").fetchall() == tiers


@pytest.mark.one_server
@pytest.mark.parametrize(
    "change",
    [
        "SELECT 1",
        "DELETE FROM signing_keys",
        "UPDATE elliptic_signing_keys SET state = 'retired' WHERE state = 'active'",
        "UPDATE signing_keys SET private_pem_sealed = '' WHERE state = 'next'",
    ],
)
def test_the_signing_keys_are_there_for_a_test_that_wants_them(each: Databases, change: str) -> None:
    executed(each, change, has_signing_keys=True)

    with each.migrated(has_signing_keys=True) as url, closing(psycopg.connect(url)) as connection:
        assert sorted(keys_in(connection)) == sorted((key.kid, key.state.value, True) for key in first_keys())
    with each.migrated() as url, closing(psycopg.connect(url)) as connection:
        assert keys_in(connection) == []
