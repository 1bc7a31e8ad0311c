"""Migrations outside a transaction: each statement commits by itself, and an interrupted one can be repeated."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import lock_waits, migrations
from adapters.postgres.schema.migration_files import NO_TRANSACTION, Migration, known, statements
from adapters.postgres.schema.migrations import LockWaits, MigrationError
from tests.waiting import wait_until

SHELF = Migration(version=1, name="shelf", sql="CREATE TABLE shelf (id integer); INSERT INTO shelf VALUES (7);")
INDEX = "CREATE INDEX CONCURRENTLY IF NOT EXISTS shelf_by_id ON shelf (id);"
UNIQUE_INDEX = "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS shelf_by_id ON shelf (id);"

SHORT_WAITS = LockWaits(try_seconds=0.2, between_seconds=0.05, total_seconds=0.4)


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a migration ask at once which sessions hold what it needs: the short tries of tests are soon over."""
    monkeypatch.setattr(lock_waits, "LOOK_SECONDS", 0.01)


@pytest.fixture
def shelf(empty_database_url: str) -> Iterator[RawConnection]:
    """A connection to a database with one table of one row."""
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, ignore, [SHELF])
        yield connection


def ignore(_line: str) -> None:
    """Discard a progress report."""


def outside(*lines: str) -> Migration:
    """Return a second migration that runs outside a transaction."""
    return Migration(version=2, name="outside", sql="\n".join([NO_TRANSACTION, *lines]))


def indexes(connection: RawConnection) -> list[tuple[str, bool]]:
    """List the indexes of the shelf, each with whether it is valid."""
    return connection.execute(
        "SELECT indexrelid::regclass::text, indisvalid FROM pg_index WHERE indrelid = 'shelf'::regclass ORDER BY 1"
    ).fetchall()


def test_an_index_is_created_concurrently_and_the_migration_is_recorded(shelf: RawConnection) -> None:
    creation = outside("-- The list of books is sorted by it.", INDEX)

    applied = migrations.migrate(shelf, ignore, [SHELF, creation])

    assert applied == [creation]
    assert indexes(shelf) == [("shelf_by_id", True)]
    assert migrations.is_current(shelf, [SHELF, creation])
    assert migrations.migrate(shelf, ignore, [SHELF, creation]) == []


def test_the_plan_and_the_progress_show_that_there_is_no_transaction(shelf: RawConnection) -> None:
    creation = outside(INDEX)
    lines: list[str] = []

    (pending,) = migrations.plan(shelf, [SHELF, creation]).pending
    migrations.migrate(shelf, lines.append, [SHELF, creation])

    assert str(pending) == "0002_outside (no transaction)"
    assert lines[0] == "Applying 0002_outside (no transaction), 1 of 1."
    assert lines[-1].startswith("Applied 0002_outside in ")


def test_its_statements_are_counted(shelf: RawConnection) -> None:
    wider = [f"ALTER TABLE shelf ADD COLUMN IF NOT EXISTS {name} integer;" for name in ("width", "height")]
    lines: list[str] = []

    migrations.migrate(shelf, lines.append, [SHELF, outside(*wider, INDEX)])

    assert lines[1:-1] == ["0002_outside: 1 of 3 statements, 33 %", "0002_outside: 2 of 3 statements, 66 %"]


def test_a_failed_statement_keeps_the_earlier_ones_and_a_rerun_repeats_all(shelf: RawConnection) -> None:
    broken = outside("ALTER TABLE shelf ADD COLUMN IF NOT EXISTS width integer;", "INSERT INTO nowhere VALUES (1);")
    repaired = outside("ALTER TABLE shelf ADD COLUMN IF NOT EXISTS width integer;", INDEX)

    with pytest.raises(MigrationError, match=r"0002_outside failed after 1 of 2 statements, which were kept.*nowhere"):
        migrations.migrate(shelf, ignore, [SHELF, broken])
    pending = migrations.plan(shelf, [SHELF, broken]).pending
    width = shelf.execute("SELECT width FROM shelf").fetchall()
    applied = migrations.migrate(shelf, ignore, [SHELF, repaired])

    assert pending == (broken,)
    assert width == [(None,)]
    assert applied == [repaired]


def test_a_connection_that_breaks_between_statements_leaves_a_migration_that_can_be_repeated(
    shelf: RawConnection, empty_database_url: str
) -> None:
    breaking = outside(INDEX, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5);")

    with (
        pytest.raises(MigrationError, match="failed after 1 of 2 statements, which were kept: terminating connection"),
        migrations.connected(empty_database_url) as other,
    ):
        migrations.migrate(other, ignore, [SHELF, breaking])

    assert indexes(shelf) == [("shelf_by_id", True)]
    assert migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)]) == [outside(INDEX)]
    assert indexes(shelf) == [("shelf_by_id", True)]


def test_an_index_that_an_interrupted_run_left_invalid_is_created_again(shelf: RawConnection) -> None:
    shelf.execute("INSERT INTO shelf VALUES (7)")
    creation = outside(UNIQUE_INDEX)

    with pytest.raises(MigrationError, match=r"failed after 0 of 1 statements.*could not create unique index"):
        migrations.migrate(shelf, ignore, [SHELF, creation])
    left_behind = indexes(shelf)
    shelf.execute("DELETE FROM shelf")
    migrations.migrate(shelf, ignore, [SHELF, creation])

    assert left_behind == [("shelf_by_id", False)]
    assert indexes(shelf) == [("shelf_by_id", True)]


def test_an_invalid_index_of_another_name_is_not_changed(shelf: RawConnection) -> None:
    shelf.execute("INSERT INTO shelf VALUES (7)")
    with pytest.raises(psycopg.errors.UniqueViolation):
        shelf.execute("CREATE UNIQUE INDEX CONCURRENTLY by_the_operator ON shelf (id)")

    migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)])

    assert indexes(shelf) == [("by_the_operator", False), ("shelf_by_id", True)]


def test_two_concurrent_runners_create_one_index_without_a_deadlock(
    shelf: RawConnection, empty_database_url: str
) -> None:
    applied: list[list[Migration]] = []
    lines: list[str] = []
    creation = outside(INDEX)

    def run() -> None:
        with migrations.connected(empty_database_url) as connection:
            applied.append(migrations.migrate(connection, lines.append, [SHELF, creation]))

    runners = [threading.Thread(target=run) for _ in range(2)]
    with psycopg.connect(empty_database_url) as writer:
        writer.execute("INSERT INTO shelf VALUES (8)")
        for runner in runners:
            runner.start()
        wait_until(lambda: "Another Gatehouse is migrating or backing up this database. Waiting for it." in lines)
        wait_until(lambda: is_waited_for(lines))
        writer.commit()
    for runner in runners:
        runner.join()

    assert sorted(map(len, applied)) == [0, 1]
    assert indexes(shelf) == [("shelf_by_id", True)]


def is_waited_for(lines: list[str]) -> bool:
    """Whether a runner has said that it waits for those that use the shelf."""
    return any("waiting until what uses shelf now has ended" in line for line in lines)


def indexes_seen_by(url: str) -> list[tuple[str, bool]]:
    """List the indexes of the shelf over a connection of its own."""
    with migrations.connected(url) as connection:
        return indexes(connection)


def test_a_concurrent_statement_waits_longer_for_a_lock_than_a_blocking_one(
    shelf: RawConnection, empty_database_url: str
) -> None:
    failures: list[str] = []
    lines: list[str] = []
    widening = outside("ALTER TABLE shelf ADD COLUMN IF NOT EXISTS width integer;")

    def create() -> None:
        with migrations.connected(empty_database_url) as connection:
            migrations.migrate(connection, lines.append, [SHELF, outside(INDEX)], table_waits=SHORT_WAITS)

    with psycopg.connect(empty_database_url) as writer:
        writer.execute("INSERT INTO shelf VALUES (8)")
        try:
            migrations.migrate(shelf, ignore, [SHELF, widening], table_waits=SHORT_WAITS)
        except MigrationError as failure:
            failures.append(str(failure))
        runner = threading.Thread(target=create)
        runner.start()
        wait_until(lambda: is_waited_for(lines))
        runner.join(0.2)
        is_still_waiting = runner.is_alive()
        writer.commit()
    runner.join()

    assert failures[0].startswith("Migration 0002_outside did not get the tables that it needs within 0.4 s, in ")
    assert "0 of its 1 statements were kept; it is repeated from its first." in failures[0]
    assert is_still_waiting
    assert indexes(shelf) == [("shelf_by_id", True)]


def test_an_index_is_not_begun_while_what_uses_its_table_goes_on(shelf: RawConnection, empty_database_url: str) -> None:
    lines: list[str] = []

    with psycopg.connect(empty_database_url, application_name="report.sh") as writer:
        writer.execute("INSERT INTO shelf VALUES (8)")
        with pytest.raises(MigrationError) as given_up:
            migrations.migrate(shelf, lines.append, [SHELF, outside(INDEX)], concurrent_waits=SHORT_WAITS)
        left_behind = indexes(shelf)
        pid = writer.info.backend_pid

    assert left_behind == []
    assert lines[1].startswith(f"0002_outside: waiting until what uses shelf now has ended: session {pid} (report.sh")
    assert f"They are held by session {pid} (report.sh of " in str(given_up.value)
    assert migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)]) == [outside(INDEX)]


def test_an_index_that_could_not_be_completed_is_dropped(shelf: RawConnection, empty_database_url: str) -> None:
    # It uses another table, but its snapshot is older than the index.
    with psycopg.connect(empty_database_url) as reader:
        reader.execute("CREATE TABLE other (id integer)")
        reader.commit()
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM other")
        with pytest.raises(MigrationError, match=r"0002_outside did not get .* 0 of its 1 statements were kept"):
            migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)], concurrent_waits=SHORT_WAITS)
        left_behind = indexes(shelf)

    assert left_behind == []
    assert migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)]) == [outside(INDEX)]
    assert indexes(shelf) == [("shelf_by_id", True)]


def test_an_index_that_can_be_neither_completed_nor_dropped_is_named(
    shelf: RawConnection, empty_database_url: str
) -> None:
    waits = LockWaits(try_seconds=0.5, between_seconds=0.05, total_seconds=0.5)

    with psycopg.connect(empty_database_url) as reader, psycopg.connect(empty_database_url) as late:
        reader.execute("CREATE TABLE other (id integer)")
        reader.commit()
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM other")

        def use_the_table() -> None:
            # From when the index is begun.
            wait_until(lambda: bool(indexes_seen_by(empty_database_url)))
            late.execute("SELECT count(*) FROM shelf")

        user = threading.Thread(target=use_the_table)
        user.start()
        with pytest.raises(MigrationError, match="The index shelf_by_id is left unfinished, which no query uses; the"):
            migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)], concurrent_waits=waits, table_waits=SHORT_WAITS)
        user.join()

    assert indexes(shelf) == [("shelf_by_id", False)]
    assert migrations.migrate(shelf, ignore, [SHELF, outside(INDEX)]) == [outside(INDEX)]
    assert indexes(shelf) == [("shelf_by_id", True)]


def test_an_index_is_not_half_dropped_while_what_uses_its_table_goes_on(
    shelf: RawConnection, empty_database_url: str
) -> None:
    shelf.execute("CREATE INDEX shelf_by_id ON shelf (id)")
    dropping = outside("DROP INDEX CONCURRENTLY IF EXISTS shelf_by_id;")

    with psycopg.connect(empty_database_url) as reader:
        reader.execute("SELECT count(*) FROM shelf")
        with pytest.raises(MigrationError, match=r"0002_outside did not get .* 0 of its 1 statements were kept"):
            migrations.migrate(shelf, ignore, [SHELF, dropping], concurrent_waits=SHORT_WAITS)
        left_behind = indexes(shelf)

    assert left_behind == [("shelf_by_id", True)]
    assert migrations.migrate(shelf, ignore, [SHELF, dropping]) == [dropping]
    assert indexes(shelf) == []


def test_a_blocking_statement_outside_a_transaction_is_tried_again(
    shelf: RawConnection, empty_database_url: str
) -> None:
    widening = outside("ALTER TABLE shelf ADD COLUMN IF NOT EXISTS width integer;")
    lines: list[str] = []

    with psycopg.connect(empty_database_url) as reader:
        reader.execute("SELECT count(*) FROM shelf")

        def end_after_two_tries(line: str) -> None:
            lines.append(line)
            if ", try 2:" in line:
                reader.rollback()

        waits = LockWaits(try_seconds=0.3, between_seconds=0.05, total_seconds=60)
        assert migrations.migrate(shelf, end_after_two_tries, [SHELF, widening], table_waits=waits) == [widening]

    assert [line.partition(":")[0] for line in lines[1:-1]] == ["0002_outside, try 1", "0002_outside, try 2"]


def test_a_later_transactional_migration_has_the_short_lock_timeout_again(
    shelf: RawConnection, empty_database_url: str
) -> None:
    wider = Migration(version=3, name="wider", sql="ALTER TABLE shelf ADD COLUMN width integer;")

    with psycopg.connect(empty_database_url) as reader:

        def lock_the_table(line: str) -> None:
            if line.startswith("Applying 0003_wider"):
                reader.execute("SELECT count(*) FROM shelf")

        with pytest.raises(MigrationError, match=r"0003_wider did not get the tables that it needs within 0\.4 s, in"):
            migrations.migrate(shelf, lock_the_table, [SHELF, outside(INDEX), wider], table_waits=SHORT_WAITS)

    assert migrations.plan(shelf, [SHELF, outside(INDEX), wider]).pending == (wider,)


def test_a_file_is_split_at_the_semicolons_that_end_a_line() -> None:
    migration = outside(
        "-- First the index; it takes long;",
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS shelf_by_id",
        "ON shelf (id);  ",
        "",
        "UPDATE shelf SET id = 1 WHERE name = 'a;b';",
    )

    assert [statement.sql for statement in statements(migration)] == [
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS shelf_by_id\nON shelf (id)",
        "UPDATE shelf SET id = 1 WHERE name = 'a;b'",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX shelf_by_id ON shelf (id);",
        "CREATE INDEX CONCURRENTLY shelf_by_id ON shelf (id);",
        "CREATE INDEX CONCURRENTLY ON shelf (id);",
        'CREATE INDEX CONCURRENTLY IF NOT EXISTS "Shelf by id" ON shelf (id);',
        "create index concurrently shelf_by_id on shelf (id);",
        "DO $$ BEGIN END $$;",
    ],
)
def test_a_statement_that_cannot_be_repeated_is_refused_before_anything_runs(
    shelf: RawConnection, statement: str
) -> None:
    unsafe = outside("ALTER TABLE shelf ADD COLUMN IF NOT EXISTS width integer;", statement)

    with pytest.raises(AssertionError):
        migrations.migrate(shelf, ignore, [SHELF, unsafe])

    assert shelf.execute("SELECT * FROM shelf").fetchall() == [(7,)]


def test_the_marker_counts_only_as_the_first_line() -> None:
    later = Migration(version=1, name="later", sql=f"-- A comment.\n{NO_TRANSACTION}\nSELECT 1;")

    assert later.is_transactional
    assert not Migration(version=1, name="first", sql=f"{NO_TRANSACTION}  \r\nSELECT 1;").is_transactional


def test_the_files_of_this_version_follow_the_rules() -> None:
    assert all(statements(migration) for migration in known() if not migration.is_transactional)


def test_an_index_of_a_log_by_month_is_created_concurrently_in_each_partition(empty_database_url: str) -> None:
    index = (
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_by_agent ON login_events (user_agent, id) WHERE success;"
    )
    creation = Migration(version=len(known()) + 1, name="agents", sql=f"{NO_TRANSACTION}\n{index}")
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, ignore)
        partitions = [
            name
            for (name,) in connection.execute("SELECT name FROM log_partitions WHERE log = 'login_events'").fetchall()
        ]
        migrations.migrate(connection, ignore, [*known(), creation])

        taken_over = connection.execute(
            """
            SELECT i.indrelid::regclass::text, x.relname, i.indisvalid
            FROM   pg_inherits
            JOIN   pg_index i ON i.indexrelid = inhrelid
            JOIN   pg_class x ON x.oid = inhrelid
            WHERE  inhparent = 'login_events_by_agent'::regclass
            """
        ).fetchall()

    assert len(partitions) > 1
    # Each has the index that was made for it alone; the index of the log has made no further one.
    assert sorted(taken_over) == sorted((name, f"{name}_by_agent", True) for name in partitions)
