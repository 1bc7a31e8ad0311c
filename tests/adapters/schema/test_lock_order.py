"""Migrations beside what others write: locks in one order, no deadlock, and soon another try."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema import lock_order, lock_waits, migrations
from adapters.postgres.schema.lock_waits import LockWaits
from adapters.postgres.schema.migration_files import Migration
from adapters.postgres.schema.statement_locks import Lock
from ops.benchmarks.large_database import released_migrations
from tests.shown_text import shows
from tests.waiting import wait_until

MADE: Final = Migration(
    version=1,
    name="made",
    sql="CREATE TABLE services (id integer PRIMARY KEY, size integer); CREATE TABLE events (id integer);"
    " CREATE TABLE books (id integer); CREATE INDEX books_of_id ON books (id);",
)
CHANGED: Final = Migration(
    version=2,
    name="changed",
    sql="""
    UPDATE books SET id = 7;
    ALTER TABLE events ADD COLUMN size integer;
    DROP INDEX books_of_id;
    CREATE TABLE new (id integer REFERENCES services);
    ALTER TABLE new ADD COLUMN size integer;
    UPDATE services SET size = 7;
    """,
)
# A lock that the text does not show, behind one that a test holds as long as it likes.
HIDDEN: Final = Migration(
    version=2,
    name="hidden",
    sql="""
    ALTER TABLE services ADD COLUMN width integer;
    SELECT pg_advisory_xact_lock(7);
    DO $$ BEGIN EXECUTE 'LOCK TABLE events IN ACCESS EXCLUSIVE MODE'; END $$;
    """,
)
# PostgreSQL looks for a deadlock after a second, unless an operator has set it otherwise.
DEADLOCK_SECONDS: Final = 1.0


class Migrating(threading.Thread):
    """Applies migrations beside the test."""

    def __init__(self, url: str, known: Sequence[Migration], waits: LockWaits = migrations.TABLE_WAITS) -> None:
        super().__init__(daemon=True)
        self._url, self._known, self._waits = url, known, waits
        self.lines: list[str] = []
        self.error: Exception | None = None

    def run(self) -> None:
        """Apply them."""
        try:
            with migrations.connected(self._url) as connection:
                migrations.migrate(connection, self.lines.append, self._known, table_waits=self._waits)
        except migrations.MigrationError as error:
            self.error = error

    def end(self) -> None:
        """Wait for its end, which has to be a good one."""
        self.join()
        assert self.error is None, self.error

    @property
    def tries(self) -> list[str]:
        """What was reported of tries that gave way."""
        return [line for line in self.lines if ", try " in line]


class Writer(threading.Thread):
    """A transaction that writes to one table, and then to others as soon as it may go on."""

    def __init__(self, url: str, table: str, further: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self._connection = psycopg.connect(url, application_name=f"writer of {table}")
        self._further = further
        self._may_go_on = threading.Event()
        self.error: psycopg.Error | None = None
        self._write(table)

    def run(self) -> None:
        """Go on, and commit."""
        self._may_go_on.wait()
        try:
            for table in self._further:
                self._write(table)
            self._connection.commit()
        except psycopg.Error as error:
            self.error = error
        finally:
            self._connection.close()

    def go_on(self) -> None:
        """Let it go on."""
        self._may_go_on.set()

    def _write(self, table: str) -> None:
        self._connection.execute(SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE").format(Identifier(table)))


@pytest.fixture
def observer(empty_database_url: str) -> Iterator[psycopg.Connection]:
    """A connection that looks at locks."""
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        yield connection


def wait_for_waiting(observer: psycopg.Connection, number: int = 1) -> None:
    """Return when so many sessions wait for a lock in this database."""
    asked = (
        "SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT granted AND datname = current_database()"
    )
    wait_until(lambda: observer.execute(asked.encode()).rowcount >= number)


def look_for_deadlocks_after(url: str, setting: str) -> None:
    """Set after what time PostgreSQL looks for a deadlock, which the server of the tests does sooner than others."""
    with psycopg.connect(make_conninfo(url, user=SUPERUSER), autocommit=True) as administrator:
        name = Identifier(administrator.info.dbname)
        administrator.execute(SQL("ALTER DATABASE {} SET deadlock_timeout = {}").format(name, setting))


def migrated(url: str, known: Sequence[Migration]) -> None:
    with migrations.connected(url) as connection:
        migrations.migrate(connection, lambda _line: None, known)


def test_the_locks_of_a_migration_are_known_before_and_in_the_one_order(empty_database_url: str) -> None:
    migrated(empty_database_url, [MADE])

    with migrations.connected(empty_database_url) as connection:
        wanted = lock_order.wanted(connection, CHANGED)
        none = lock_order.wanted(connection, Migration(version=2, name="none", sql="CREATE TABLE none (id integer);"))

    assert wanted.locks == (
        ("services", Lock.SHARE_ROW_EXCLUSIVE),
        ("books", Lock.ACCESS_EXCLUSIVE),
        ("events", Lock.ACCESS_EXCLUSIVE),
    )
    # Rows are filled beside writers.
    assert wanted.before == 1
    assert (none.locks, lock_order.statement_of(none, seconds_max=1)) == ((), "")


def test_the_order_names_tables_that_are_there_each_once(connection: RawConnection) -> None:
    order = (*lock_order.FIRST, *lock_order.LAST)
    there = {name for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')")}

    assert set(order) <= there
    assert len(set(order)) == len(order)
    assert sorted(["audit_seals", "mails", "tiers", "users"], key=lock_order.place) == [
        *("users", "tiers", "mails", "audit_seals")
    ]


def test_all_partitions_of_a_log_together_are_waited_for_no_longer_than_a_try(
    empty_database_url: str, observer: psycopg.Connection
) -> None:
    observer.execute("CREATE TABLE events (id integer) PARTITION BY LIST (id)")
    parts = ["events_1", "events_2"]
    for number, part in enumerate(parts):
        observer.execute(f"CREATE TABLE {part} PARTITION OF events FOR VALUES IN ({number})".encode())
    writers = [Writer(empty_database_url, part, []) for part in parts]
    wanted = lock_order.Wanted(before=0, locks=(("events", Lock.ACCESS_EXCLUSIVE),))
    failures: list[psycopg.Error] = []

    def lock() -> None:
        with psycopg.connect(empty_database_url) as connection:
            try:
                connection.execute(lock_order.statement_of(wanted, seconds_max=1.0).encode())
            except psycopg.errors.LockNotAvailable as error:
                failures.append(error)

    def has_waited(part: str, seconds: float) -> bool:
        asked = (
            "SELECT FROM pg_locks WHERE relation = %s::regclass AND clock_timestamp() - waitstart > %s * interval '1 s'"
        )
        return not locking.is_alive() or observer.execute(asked.encode(), (part, seconds)).rowcount > 0

    locking = threading.Thread(target=lock, daemon=True)
    locking.start()
    # Each wait is shorter than a try, and together they are longer.
    for writer, part in zip(writers, parts, strict=True):
        wait_until(lambda part=part: has_waited(part, 0.7))
        writer.start()
        writer.go_on()
        writer.join()
    locking.join()

    assert len(failures) == 1


def test_a_try_is_over_before_postgresql_looks_for_a_deadlock() -> None:
    assert 2 * migrations.TABLE_WAITS.try_seconds < DEADLOCK_SECONDS


@pytest.mark.long
def test_a_migration_gives_way_to_writers_that_take_its_tables_in_any_order(
    empty_database_url: str, observer: psycopg.Connection
) -> None:
    migrated(empty_database_url, [MADE])
    look_for_deadlocks_after(empty_database_url, "1s")
    tables = ["services", "events", "books"]
    writers = [Writer(empty_database_url, table, [*reversed(tables)]) for table in tables]
    for writer in writers:
        writer.start()
    migrating = Migrating(empty_database_url, [MADE, CHANGED])

    migrating.start()
    wait_for_waiting(observer)
    for writer in writers:
        writer.go_on()
    for writer in writers:
        writer.join()
    migrating.end()

    assert [writer.error for writer in writers] == [None] * len(writers)
    assert not shows("\n".join(migrating.lines), "deadlock")


def test_after_a_deadlock_the_next_try_comes_at_once_and_the_message_names_it(
    empty_database_url: str, observer: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_waits, "PAUSE_SECONDS_MIN", 0.0)
    migrated(empty_database_url, [MADE])
    look_for_deadlocks_after(empty_database_url, "10ms")
    observer.execute("SELECT pg_advisory_lock(7)")
    # It would look for its holder until the end of the test, were it taken for a session that holds on.
    migrating = Migrating(
        empty_database_url,
        [MADE, HIDDEN],
        LockWaits(try_seconds=120, between_seconds=3600, total_seconds=7200),
    )
    # The writer itself never looks for a deadlock, so that the migration is the one that gives way.
    patient = make_conninfo(empty_database_url, user=SUPERUSER, options="-c deadlock_timeout=1h")
    writer = Writer(patient, "events", ["services"])
    writer.start()

    migrating.start()
    wait_for_waiting(observer)
    writer.go_on()
    wait_for_waiting(observer, 2)
    observer.execute("SELECT pg_advisory_unlock(7)")
    writer.join()
    migrating.end()

    assert writer.error is None
    [line] = migrating.tries
    assert line.startswith("0002_hidden, try 1: was in a deadlock with ")
    assert ", each waiting for what the other held, and gave way. Trying again in 0 s; giving up in " in line
    assert not shows(line, "held by")


def test_the_last_message_tells_a_deadlock_from_a_holder() -> None:
    waits, nobody = LockWaits(try_seconds=1, between_seconds=1, total_seconds=1), lock_waits.Looked()

    assert lock_waits.NotGranted(nobody, 1, waits).last == "They are held by no session that could be seen"
    assert (
        lock_waits.NotGranted(nobody, 1, waits, is_deadlock=True).last
        == "The last try was in a deadlock with no session that could be seen"
    )


@pytest.mark.long
def test_each_migration_since_the_last_release_passes_beside_writers_of_all_its_tables(
    empty_database_url: str, observer: psycopg.Connection
) -> None:
    look_for_deadlocks_after(empty_database_url, "1s")
    known, released = migrations.known(), len(released_migrations())
    migrated(empty_database_url, known[:released])
    tried = 0
    for migration in known[released:]:
        tables = (
            [table for table, _ in lock_order.wanted(observer, migration).locks] if migration.is_transactional else []
        )
        # Each has one table of the migration, and then takes all of them the other way round.
        writers = [Writer(empty_database_url, table, tables[::-1]) for table in tables]
        for writer in writers:
            writer.start()
        migrating = Migrating(empty_database_url, known[: migration.version])
        migrating.start()
        if writers:
            tried += 1
            wait_for_waiting(observer)
        for writer in writers:
            writer.go_on()
        for writer in writers:
            writer.join()
        migrating.end()

        assert [writer.error for writer in writers] == [None] * len(writers), migration.id
        assert not shows("\n".join(migrating.lines), "deadlock")
    assert tried > 0
