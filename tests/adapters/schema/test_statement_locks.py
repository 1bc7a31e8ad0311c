"""What statements lock: by their text, and by PostgreSQL when every migration runs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from adapters.postgres.schema.migration_files import Migration, MigrationStatement
from adapters.postgres.schema.statement_locks import Held, Lock, NotUnderstood, Work, locks

# Dropped constraints and cascades reach tables that the text does not name; all of these are in released migrations.
REACHED = {("0003_governance", "users")}


def held(statement: str) -> list[tuple[str, Lock, Work]]:
    return [(one.table, one.lock, one.work) for one in locks(statement)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE users ADD COLUMN age integer DEFAULT 7", ("users", Lock.ACCESS_EXCLUSIVE, Work.NONE)),
        ("ALTER TABLE users ADD n bigint DEFAULT nextval('n')", ("users", Lock.ACCESS_EXCLUSIVE, Work.REWRITE)),
        ("ALTER TABLE users ADD CHECK (age > 7)", ("users", Lock.ACCESS_EXCLUSIVE, Work.READ)),
        ("ALTER TABLE users ADD CHECK (age > 7) NOT VALID", ("users", Lock.ACCESS_EXCLUSIVE, Work.NONE)),
        ("ALTER TABLE users ADD UNIQUE (email, id)", ("users", Lock.ACCESS_EXCLUSIVE, Work.INDEX)),
        ("ALTER TABLE users ALTER COLUMN age TYPE bigint", ("users", Lock.ACCESS_EXCLUSIVE, Work.REWRITE)),
        ("ALTER TABLE users ALTER COLUMN age SET NOT NULL", ("users", Lock.ACCESS_EXCLUSIVE, Work.READ)),
        ("ALTER TABLE users DROP COLUMN age", ("users", Lock.ACCESS_EXCLUSIVE, Work.NONE)),
        ("ALTER TABLE users VALIDATE CONSTRAINT a", ("users", Lock.SHARE_UPDATE_EXCLUSIVE, Work.READ)),
        ("ALTER TABLE users SET (fillfactor = 70)", ("users", Lock.SHARE_UPDATE_EXCLUSIVE, Work.NONE)),
        ("CREATE INDEX i ON users (age)", ("users", Lock.SHARE, Work.INDEX)),
        (
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON users (age)",
            ("users", Lock.SHARE_UPDATE_EXCLUSIVE, Work.INDEX),
        ),
        ("CREATE TRIGGER t AFTER INSERT ON users EXECUTE FUNCTION f()", ("users", Lock.SHARE_ROW_EXCLUSIVE, Work.NONE)),
        ("CREATE TABLE n (u uuid REFERENCES users ON DELETE CASCADE)", ("users", Lock.SHARE_ROW_EXCLUSIVE, Work.NONE)),
        ("UPDATE users SET age = 7", ("users", Lock.ROW_EXCLUSIVE, Work.CHANGE)),
        ("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE", ("users", Lock.SHARE_ROW_EXCLUSIVE, Work.NONE)),
        ("DO $$ BEGIN DELETE FROM users; END $$", ("users", Lock.ROW_EXCLUSIVE, Work.CHANGE)),
        ("DROP TABLE users", ("users", Lock.ACCESS_EXCLUSIVE, Work.NONE)),
    ],
)
def test_the_text_says_what_is_locked_and_what_happens_to_the_rows(
    statement: str, expected: tuple[str, Lock, Work]
) -> None:
    assert held(statement) == [expected]


def test_a_foreign_key_locks_both_tables() -> None:
    lock = Lock.SHARE_ROW_EXCLUSIVE

    assert sorted(held("ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (id)")) == [
        ("a", lock, Work.READ),
        ("b", lock, Work.READ),
    ]
    assert held("ALTER TABLE a ADD COLUMN b uuid REFERENCES b ON DELETE SET NULL") == [
        ("b", lock, Work.NONE),
        ("a", Lock.ACCESS_EXCLUSIVE, Work.NONE),
    ]


def test_a_dropped_index_is_named_because_its_table_is_not() -> None:
    assert locks("DROP INDEX i") == [Held(table="", lock=Lock.ACCESS_EXCLUSIVE, index="i")]


def test_what_no_migration_contains_yet_is_not_guessed() -> None:
    with pytest.raises(NotUnderstood):
        locks("CLUSTER users USING users_pkey")


def test_the_locks_of_every_migration_are_those_that_postgresql_takes(empty_database_url: str) -> None:
    with migrations.connected(empty_database_url) as connection:
        different: list[object] = []

        @contextmanager
        def compare(migration: Migration, statement: MigrationStatement) -> Generator[None]:
            # A statement by itself gives its locks back at once.
            if not migration.is_transactional:
                locks(statement.sql)
                yield
                return
            before, expected = _taken(connection), _expected(connection, statement.sql)
            yield
            taken = {table: lock for table, lock in _taken(connection).items() if before.get(table) != lock}
            for table, lock in taken.items():
                known = max(expected.get(table, 0), before.get(table, 0))
                if known != lock and (migration.id, table) not in REACHED:
                    different.append((migration.id, statement.sql[:60], table, lock, known))

        migrations.migrate(connection, lambda _line: None, watch=compare)

    assert different == []


def _taken(connection: RawConnection) -> dict[str, Lock]:
    """Return the strongest lock on each table that this transaction did not make itself, if it blocks something.

    A partition is locked with its log.
    """
    rows = connection.execute(
        """
        SELECT c.relname, array_agg(l.mode)
        FROM   pg_locks l
        JOIN   pg_class c ON c.oid = l.relation
        WHERE  l.pid = pg_backend_pid() AND l.granted AND c.relkind = 'r' AND NOT c.relispartition AND c.oid >= 16384
          AND  c.xmin::text <> coalesce(pg_current_xact_id_if_assigned()::text, '')
        GROUP BY c.relname
        """
    ).fetchall()
    strongest = {name: max(_lock(mode) for mode in modes) for name, modes in rows}
    return {name: lock for name, lock in strongest.items() if lock >= Lock.SHARE_UPDATE_EXCLUSIVE}


def _lock(mode: str) -> Lock:
    letters = "".join(f"_{letter}" if letter.isupper() else letter for letter in mode.removesuffix("Lock"))
    return Lock[letters.removeprefix("_").upper()]


def _expected(connection: RawConnection, sql: str) -> dict[str, Lock]:
    found = dict[str, Lock]()
    for one in locks(sql):
        table = one.table
        if one.index:
            [(table,)] = connection.execute(
                "SELECT indrelid::regclass::text FROM pg_index WHERE indexrelid = to_regclass(%s)", (one.index,)
            ).fetchall()
        found[table] = one.lock
    return found
