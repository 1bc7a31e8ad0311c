"""Migrations: what they do to a database, what they refuse, concurrent runs and failures."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema import lock_waits, migration_history, migrations
from adapters.postgres.schema.migrations import DatabaseUnreachable, LockWaits, Migration, MigrationError
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.waiting import wait_until

SHELF = Migration(version=1, name="shelf", sql="CREATE TABLE shelf (id integer);")
BOOKS = Migration(version=2, name="books", sql="CREATE TABLE books (id integer); INSERT INTO shelf VALUES (7);")

# One table is free, and the other one may be in use.
SEVERAL = Migration(
    version=2, name="several", sql="CREATE TABLE books (id integer); ALTER TABLE shelf ADD COLUMN width integer;"
)
SHORT_WAITS = LockWaits(try_seconds=0.3, between_seconds=0.05, total_seconds=0.9)


@pytest.fixture(autouse=True)
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a migration ask at once which sessions hold what it needs: the short tries of tests are soon over."""
    monkeypatch.setattr(lock_waits, "LOOK_SECONDS", 0.01)


@pytest.fixture
def empty(empty_database_url: str) -> Iterator[RawConnection]:
    """A connection to a database without a schema."""
    with migrations.connected(empty_database_url) as connection:
        yield connection


def ignore(_line: str) -> None:
    """Discard a progress report."""


def tables(connection: RawConnection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND oid >= 16384")}


def test_an_empty_database_gets_the_current_schema(empty: RawConnection) -> None:
    applied = migrations.migrate(empty, ignore)

    assert applied == list(migrations.known())
    assert migrations.is_current(empty)


def test_the_migrations_are_found_in_the_package_in_order() -> None:
    known = migrations.known()

    assert str(known[0]) == "0001_foundation"
    assert [migration.version for migration in known] == list(range(1, len(known) + 1))


@pytest.mark.parametrize("migration", migrations.known(), ids=str)
def test_a_migration_leaves_its_transaction_to_the_runner(migration: Migration) -> None:
    # A procedure is executed by another migration, outside of a transaction.
    executed = re.sub(r"\$\$.*?\$\$", "", migration.sql, flags=re.DOTALL)
    assert not re.search(r"^\s*(BEGIN|COMMIT|ROLLBACK)\b.*;", executed, re.MULTILINE)
    assert not (migration.is_transactional and re.search(r"\b(CONCURRENTLY|VACUUM)\b", migration.sql))


def test_a_current_database_is_not_changed(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore)

    assert migrations.migrate(empty, ignore) == []


def test_the_plan_lists_what_was_applied_and_what_is_pending(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF])

    plan = migrations.plan(empty, [SHELF, BOOKS])

    assert [str(migration) for migration in plan.applied] == ["0001_shelf"]
    assert plan.pending == (BOOKS,)


def test_planning_changes_nothing(empty: RawConnection) -> None:
    plan = migrations.plan(empty)

    assert plan.pending == migrations.known()
    assert tables(empty) == set()
    assert not migrations.is_current(empty)


def test_a_failed_migration_leaves_nothing_behind_and_keeps_the_earlier_ones(empty: RawConnection) -> None:
    broken = Migration(version=2, name="broken", sql="CREATE TABLE books (id integer); INSERT INTO nowhere VALUES (1);")

    with pytest.raises(MigrationError, match=r"0002_broken failed and left nothing behind.*nowhere"):
        migrations.migrate(empty, ignore, [SHELF, broken])

    assert tables(empty) == {"schema_migrations", "shelf"}
    assert migrations.plan(empty, [SHELF, BOOKS]).pending == (BOOKS,)


def test_a_migration_whose_connection_breaks_leaves_nothing_behind_and_can_be_repeated(empty_database_url: str) -> None:
    breaking = Migration(
        version=1,
        name="shelf",
        sql="CREATE TABLE shelf (id integer); SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5);",
    )

    with (
        pytest.raises(MigrationError, match="0001_shelf failed and left nothing behind: terminating connection"),
        migrations.connected(empty_database_url) as first,
    ):
        migrations.migrate(first, ignore, [breaking])

    with migrations.connected(empty_database_url) as second:
        assert migrations.migrate(second, ignore, [SHELF]) == [SHELF]


def test_an_error_of_postgresql_is_reported_in_one_sentence(empty_database_url: str) -> None:
    forbidden = make_conninfo(empty_database_url, options="-c search_path=pg_catalog")

    with (
        pytest.raises(MigrationError, match="The database refused: permission denied for schema pg_catalog"),
        migrations.connected(forbidden) as connection,
    ):
        migrations.migrate(connection, ignore, [SHELF])


def test_a_changed_migration_is_named_in_the_error(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    changed = Migration(version=1, name="shelf", sql="CREATE TABLE shelf (id bigint);")

    with pytest.raises(MigrationError, match=r"Migration 0001_shelf is not what was applied.*restore 0001_shelf.sql"):
        migrations.migrate(empty, ignore, [changed, BOOKS])


def test_another_migration_of_the_same_number_is_named_in_the_error(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    other = Migration(version=1, name="cellar", sql=SHELF.sql)

    with pytest.raises(
        MigrationError, match="Migration 0001_cellar is not what was applied to this database as 0001_shelf"
    ):
        migrations.plan(empty, [other])


def test_a_database_of_a_newer_gatehouse_is_refused(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF, BOOKS])

    with pytest.raises(MigrationError, match=r"ahead of this version: 0002_books.*run that newer Gatehouse"):
        migrations.is_current(empty, [SHELF])


def compatible(version: int, oldest: int) -> Migration:
    """Return a migration which says that every version from this one on works with the schema after it."""
    sql = f"-- gatehouse: compatible from {oldest:04d}\nCREATE TABLE after_{oldest} (id integer);"
    return Migration(version=version, name=f"after_{oldest}", sql=sql)


def test_an_older_gatehouse_works_with_a_newer_schema_that_says_so(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF, BOOKS, compatible(3, oldest=2)])

    plan = migrations.plan(empty, [SHELF, BOOKS])

    assert [str(row) for row in plan.ahead] == ["0003_after_2"]
    assert migrations.is_current(empty, [SHELF, BOOKS])
    assert migrations.migrate(empty, ignore, [SHELF, BOOKS]) == []
    with pytest.raises(MigrationError, match=r"ahead of this version: 0002_books.*restore a backup"):
        migrations.plan(empty, [SHELF])


def test_one_migration_that_an_older_gatehouse_does_not_work_with_is_enough(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF, compatible(2, oldest=1), compatible(3, oldest=2)])

    assert migrations.is_current(empty, [SHELF, compatible(2, oldest=1)])
    with pytest.raises(MigrationError, match="ahead of this version: 0003_after_2"):
        migrations.plan(empty, [SHELF])


def test_a_history_from_before_versions_were_recorded_gets_the_column(empty: RawConnection) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    empty.execute("ALTER TABLE schema_migrations DROP COLUMN compatible_from")

    before = migrations.plan(empty, [SHELF, compatible(2, oldest=1)])
    migrations.migrate(empty, ignore, [SHELF, compatible(2, oldest=1)])

    assert [row.compatible_from for row in before.applied] == [None]
    assert [row.compatible_from for row in migrations.plan(empty, [SHELF]).applied] == [None, 1]


def test_what_a_migration_says_of_other_versions_is_no_part_of_its_checksum() -> None:
    silent = Migration(version=3, name="after_2", sql="CREATE TABLE after_2 (id integer);")

    assert compatible(3, oldest=2).checksum == silent.checksum
    assert (compatible(3, oldest=2).compatible_from, silent.compatible_from) == (2, None)


def test_line_ends_and_trailing_blanks_do_not_change_a_checksum() -> None:
    one = Migration(version=1, name="shelf", sql="SELECT 1;\nSELECT 2;\n")
    same = Migration(version=1, name="shelf", sql="SELECT 1;  \r\nSELECT 2;")
    other = Migration(version=1, name="shelf", sql="SELECT 1;\nSELECT  2;")

    assert one.checksum == same.checksum
    assert one.checksum != other.checksum


def test_replicas_that_start_together_migrate_once(empty_database_url: str) -> None:
    applied: list[list[Migration]] = []
    barrier = threading.Barrier(4)

    def start() -> None:
        with migrations.connected(empty_database_url) as connection:
            barrier.wait()
            applied.append(migrations.migrate(connection, ignore))

    replicas = [threading.Thread(target=start) for _ in range(4)]
    for replica in replicas:
        replica.start()
    for replica in replicas:
        replica.join()

    assert sorted(map(len, applied)) == [0, 0, 0, len(migrations.known())]


def test_a_waiting_replica_reports_it_and_continues_when_the_lock_is_free(
    empty: RawConnection, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "REPLICA_REPORT_SECONDS", 0.01)
    lines: list[str] = []

    def migrate() -> None:
        with migrations.connected(empty_database_url) as second:
            migrations.migrate(second, lines.append, [SHELF])

    empty.execute("SELECT pg_advisory_lock(hashtext('gatehouse.migrations'))")
    replica = threading.Thread(target=migrate)
    replica.start()
    wait_until(lambda: len(lines) >= 2)
    empty.execute("SELECT pg_advisory_unlock(hashtext('gatehouse.migrations'))")
    replica.join()

    assert lines[0] == "Another Gatehouse is migrating or backing up this database. Waiting for it."
    assert lines[-2] == "Making the schema: migrations 1 to 1."


def test_a_replica_waits_for_a_limited_time(
    empty: RawConnection, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "REPLICA_REPORT_SECONDS", 0.01)
    monkeypatch.setattr(migrations, "REPLICA_WAIT_SECONDS_MAX", 0.05)
    empty.execute("SELECT pg_advisory_lock(hashtext('gatehouse.migrations'))")

    with (
        migrations.connected(empty_database_url) as second,
        pytest.raises(MigrationError, match="Another Gatehouse has been migrating"),
    ):
        migrations.migrate(second, ignore, [SHELF])

    assert tables(empty) == set()


def test_a_migration_waits_for_a_locked_table_for_a_limited_time(
    empty: RawConnection, empty_database_url: str, stopwatch: Stopwatch
) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    lines: list[str] = []

    with psycopg.connect(empty_database_url, application_name="report.sh") as reader:
        reader.execute("SELECT count(*) FROM shelf")
        with (
            stopwatch.within(SHORT_WAITS.total_seconds + 0.5, seconds_min=SHORT_WAITS.try_seconds),
            pytest.raises(MigrationError) as given_up,
        ):
            migrations.migrate(empty, lines.append, [SHELF, SEVERAL], table_waits=SHORT_WAITS)
        pid = reader.info.backend_pid

    text = str(given_up.value)
    assert text.startswith("Migration 0002_several did not get the tables that it needs within 0.9 s, in ")
    assert " tries. Nothing of it was kept. They are held by " in text
    assert f" held by session {pid} (report.sh of {empty.info.user}, idle in transaction, its transaction open" in text
    assert f"SELECT pg_terminate_backend({pid}), or choose an hour with less load; then run `gatehouse migrate`" in text
    # Nothing is left of the statements that got what they need.
    assert tables(empty) == {"shelf", "schema_migrations"}
    assert migrations.plan(empty, [SHELF, SEVERAL]).pending == (SEVERAL,)
    assert migrations.migrate(empty, ignore, [SHELF, SEVERAL]) == [SEVERAL]


def test_a_migration_tries_again_until_a_session_gives_its_table_back(
    empty: RawConnection, empty_database_url: str
) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    lines: list[str] = []

    with psycopg.connect(empty_database_url, application_name="report.sh") as reader:
        reader.execute("SELECT count(*) FROM shelf")

        def end_after_three_tries(line: str) -> None:
            lines.append(line)
            if ", try 3:" in line:
                reader.rollback()

        waits = LockWaits(try_seconds=1, between_seconds=0.05, total_seconds=60)
        applied = migrations.migrate(empty, end_after_three_tries, [SHELF, SEVERAL], table_waits=waits)
        pid = reader.info.backend_pid

    assert applied == [SEVERAL]
    assert migrations.is_current(empty, [SHELF, SEVERAL])
    assert lines[0] == "Applying 0002_several, 1 of 1."
    assert [line.partition(":")[0] for line in lines[1:4]] == [f"0002_several, try {number}" for number in (1, 2, 3)]
    assert all("waited 1 s, and gave way" in line for line in lines[1:4])
    assert all(f" held by session {pid} (report.sh of " in line for line in lines[1:4])
    assert all(re.search(r"Trying again when that has ended, .* giving up in \d+ s\.$", line) for line in lines[1:4])
    assert lines[4].startswith("Applied 0002_several in ")
    assert lines[5:] == []


def test_nothing_queues_behind_a_migration_that_waits_for_its_next_try(
    empty: RawConnection, empty_database_url: str
) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    served: list[int] = []

    with psycopg.connect(empty_database_url) as holder:
        holder.execute("SELECT count(*) FROM shelf")

        def use_the_table(line: str) -> None:
            if ", try " in line:
                with psycopg.connect(empty_database_url, options="-c lock_timeout=2s") as other:
                    served.append(other.execute("SELECT count(*) FROM shelf").rowcount)
                holder.rollback()

        # The pause would be as long as the test may take: the end of the transaction ends it.
        waits = LockWaits(try_seconds=0.3, between_seconds=600, total_seconds=900)
        migrations.migrate(empty, use_the_table, [SHELF, SEVERAL], table_waits=waits)

    assert served == [1]
    assert migrations.is_current(empty, [SHELF, SEVERAL])


def test_a_session_of_a_role_whose_transactions_are_hidden_is_named_by_what_may_be_known(
    empty: RawConnection, empty_database_url: str
) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    superuser = make_conninfo(empty_database_url, user=SUPERUSER)

    with psycopg.connect(superuser, application_name="dump.sh") as reader:
        reader.execute("SELECT count(*) FROM shelf")
        with pytest.raises(MigrationError, match=rf"by session {reader.info.backend_pid} \(dump\.sh of postgres\)\. "):
            migrations.migrate(empty, ignore, [SHELF, SEVERAL], table_waits=SHORT_WAITS)


def test_a_try_without_a_second_connection_says_why_it_names_no_session(
    empty: RawConnection, empty_database_url: str
) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    name = empty.info.dbname
    superuser = make_conninfo(empty_database_url, user=SUPERUSER)

    with psycopg.connect(empty_database_url) as reader, psycopg.connect(superuser, autocommit=True) as administrator:
        reader.execute("SELECT count(*) FROM shelf")
        administrator.execute(SQL("ALTER DATABASE {} CONNECTION LIMIT 0").format(Identifier(name)))
        with pytest.raises(MigrationError, match=r"held by no session that could be seen \(too many connections"):
            migrations.migrate(empty, ignore, [SHELF, SEVERAL], table_waits=SHORT_WAITS)


def test_the_record_of_migrations_is_tried_again_as_well(empty: RawConnection, empty_database_url: str) -> None:
    migrations.migrate(empty, ignore, [SHELF])
    empty.execute("ALTER TABLE schema_migrations DROP COLUMN compatible_from")

    with psycopg.connect(empty_database_url) as reader:
        reader.execute("SELECT count(*) FROM schema_migrations")

        def end(line: str) -> None:
            if line.startswith("The record of migrations, try 1: waited"):
                reader.rollback()

        waits = LockWaits(try_seconds=0.3, between_seconds=600, total_seconds=900)
        assert migrations.migrate(empty, end, [SHELF, BOOKS], table_waits=waits) == [BOOKS]


def test_a_migration_may_exceed_the_statement_timeout(empty: RawConnection) -> None:
    empty.execute("SET statement_timeout = '20ms'")
    slow = Migration(version=1, name="slow", sql="SELECT pg_sleep(0.1);")

    assert migrations.migrate(empty, ignore, [slow]) == [slow]


def test_progress_is_reported_with_the_notices_of_the_migration(empty: RawConnection) -> None:
    noisy = Migration(version=2, name="noisy", sql="DO $$ BEGIN RAISE NOTICE '500 of 900 rows'; END $$;")
    lines: list[str] = []
    migrations.migrate(empty, ignore, [SHELF])

    migrations.migrate(empty, lines.append, [SHELF, noisy])

    assert lines[:2] == ["Applying 0002_noisy, 1 of 1.", "0002_noisy: 500 of 900 rows"]
    assert lines[2].startswith("Applied 0002_noisy in 0.")
    assert lines[2].endswith(" s: 1 of 1, 100 %.")


def test_a_new_schema_is_told_in_few_lines(empty: RawConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = Migration(version=2, name="noisy", sql="DO $$ BEGIN RAISE NOTICE '500 of 900 rows'; END $$;")
    lines: list[str] = []
    monkeypatch.setattr(migrations, "MAKING_REPORT_SECONDS", 0)

    migrations.migrate(empty, lines.append, [SHELF, noisy])

    assert [re.sub(r"in [0-9.]+ s", "in … s", line) for line in lines] == [
        "Making the schema: migrations 1 to 2.",
        "Made 1 of 2 migrations of the schema, 50 %.",
        "Made 2 of 2 migrations of the schema, 100 %.",
        "Made the schema in … s: 2 of 2, 100 %.",
    ]


def test_each_migration_is_counted_among_those_that_were_pending(empty: RawConnection) -> None:
    steps = [Migration(version=number, name="nothing", sql="SELECT 1;") for number in (1, 2, 3, 4)]
    lines: list[str] = []
    migrations.migrate(empty, ignore, steps[:1])

    migrations.migrate(empty, lines.append, steps)

    assert [re.sub(r"in [0-9.]+ s", "in … s", line) for line in lines] == [
        "Applying 0002_nothing, 1 of 3.",
        "Applied 0002_nothing in … s: 1 of 3, 33 %.",
        "Applying 0003_nothing, 2 of 3.",
        "Applied 0003_nothing in … s: 2 of 3, 66 %.",
        "Applying 0004_nothing, 3 of 3.",
        "Applied 0004_nothing in … s: 3 of 3, 100 %.",
    ]


def test_an_unreachable_database_is_reported_in_one_sentence_without_its_address() -> None:
    with (
        pytest.raises(
            DatabaseUnreachable, match=r"^The database cannot be reached: Connection refused\. Check"
        ) as refused,
        migrations.connected("postgresql://gatehouse:hunter2@127.0.0.1:1/gatehouse"),
    ):
        pass

    assert "127.0.0.1" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_an_invalid_address_is_not_quoted() -> None:
    with (
        pytest.raises(MigrationError, match="not an address that PostgreSQL understands") as refused,
        migrations.connected("postgresql://gatehouse:hunter2@[half/gatehouse"),
    ):
        pass

    assert not shows(str(refused.value), "hunter2")
    assert refused.value.__suppress_context__


def test_a_database_in_another_encoding_is_refused(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE gatehouse_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            with (
                migrations.connected(make_conninfo(empty_database_url, dbname="gatehouse_latin")) as latin,
                pytest.raises(MigrationError, match="gatehouse_latin is not encoded in UTF-8"),
            ):
                migrations.migrate(latin, ignore)
        finally:
            admin.execute("DROP DATABASE gatehouse_latin WITH (FORCE)")


def test_an_older_postgresql_is_refused(empty: RawConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_history, "SERVER_VERSION_MIN", 990000)

    with pytest.raises(MigrationError, match="Gatehouse needs 99 or newer"):
        migrations.plan(empty)


def test_a_migration_is_recorded_in_the_schema_of_the_address(empty: RawConnection, empty_database_url: str) -> None:
    empty.execute("CREATE SCHEMA other")
    elsewhere = make_conninfo(empty_database_url, options="-c search_path=other")

    with migrations.connected(elsewhere) as connection:
        migrations.migrate(connection, ignore, [SHELF])

    assert empty.execute("SELECT count(*) FROM other.schema_migrations").fetchone() == (1,)
    assert migrations.plan(empty, [SHELF]).pending == (SHELF,)
