"""A connection of ours: transactions and their parts, what waits and when it goes, and how answers are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from adapters.postgres.driver.rows import dict_row, scalar_row
from tests.postgres import connected, driver_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.postgres.driver.connection import Connection


@pytest.fixture(autouse=True)
def shelf(connection: Connection) -> None:
    """An empty shelf."""
    connection.execute("CREATE TABLE shelf (id integer PRIMARY KEY, title text)")


@pytest.fixture
def other(database_url: str) -> Iterator[Connection]:
    """Somebody else's connection."""
    with connected(database_url) as connection:
        yield connection


@pytest.fixture
def turns(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The turns that are taken over the connection."""
    taken: list[Any] = []
    driver = driver_of(connection)
    wait = driver.wait
    monkeypatch.setattr(driver, "wait", lambda work: (taken.append(work), wait(work))[1])
    return taken


def status_of(connection: Connection) -> TransactionStatus:
    return driver_of(connection).info.transaction_status


def put(connection: Connection, *ids: int) -> None:
    for book in ids:
        connection.execute("INSERT INTO shelf VALUES (%s)", (book,))


def put_later(connection: Connection, *ids: int) -> None:
    for book in ids:
        connection.execute_later("INSERT INTO shelf VALUES (%s)", (book,))


def on_shelf(connection: Connection) -> list[int]:
    return connection.cursor(row_factory=scalar_row).execute("SELECT id FROM shelf ORDER BY id").fetchall()


class TestTransactions:
    """All or nothing."""

    def test_what_returns_is_kept(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            put(connection, 1, 2)
            seen_meanwhile = on_shelf(other)

        assert seen_meanwhile == []
        assert on_shelf(other) == [1, 2]
        assert status_of(connection) == TransactionStatus.IDLE

    def test_what_raises_is_undone(self, connection: Connection, other: Connection) -> None:
        def put_and_fail() -> None:
            with connection.transaction():
                put(connection, 1)
                raise LookupError

        with pytest.raises(LookupError):
            put_and_fail()

        assert on_shelf(other) == []
        assert status_of(connection) == TransactionStatus.IDLE

    def test_it_begins_with_its_first_statement(self, connection: Connection, turns: list[Any]) -> None:
        with connection.transaction():
            before = status_of(connection)
            turns_before = len(turns)
            put(connection, 1)
            after = status_of(connection)

        assert (before, turns_before) == (TransactionStatus.IDLE, 0)
        assert after == TransactionStatus.INTRANS

    def test_it_takes_a_turn_for_each_statement_and_one_for_the_end(
        self, connection: Connection, turns: list[Any]
    ) -> None:
        with connection.transaction():
            put(connection, 1, 2, 3)

        assert len(turns) == 4

    def test_without_statements_it_does_no_harm(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            pass

        assert status_of(connection) == TransactionStatus.IDLE
        put(connection, 1)
        assert on_shelf(other) == [1]

    def test_without_statements_nothing_is_undone(self, connection: Connection, turns: list[Any]) -> None:
        def fail() -> None:
            with connection.transaction():
                raise LookupError

        with pytest.raises(LookupError):
            fail()

        assert turns == []
        assert status_of(connection) == TransactionStatus.IDLE

    def test_one_follows_another(self, connection: Connection, other: Connection) -> None:
        for book in (1, 2):
            with connection.transaction():
                put(connection, book)

        assert on_shelf(other) == [1, 2]

    def test_who_goes_on_after_a_failure_is_told_at_the_end(self, connection: Connection, other: Connection) -> None:
        def put_twice() -> None:
            with connection.transaction():
                put(connection, 1)
                with pytest.raises(psycopg.errors.UniqueViolation):
                    put(connection, 1)

        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            put_twice()

        assert on_shelf(other) == []
        assert status_of(connection) == TransactionStatus.IDLE

    def test_a_refused_end_is_told(self, connection: Connection, other: Connection) -> None:
        connection.execute("CREATE TABLE labels (book integer REFERENCES shelf DEFERRABLE INITIALLY DEFERRED)")

        def label() -> None:
            with connection.transaction():
                connection.execute("INSERT INTO labels VALUES (1)")

        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            label()

        assert status_of(connection) == TransactionStatus.IDLE
        assert other.execute("SELECT count(*) FROM labels").fetchone() == (0,)

    def test_what_broke_the_connection_is_told_and_not_that_nothing_can_be_undone(
        self, connection: Connection, other: Connection
    ) -> None:
        def lose() -> None:
            with connection.transaction():
                put(connection, 1)
                pid = driver_of(connection).info.backend_pid
                other.execute("SELECT pg_terminate_backend(%s, 1000)", (pid,))
                raise LookupError

        with pytest.raises(LookupError):
            lose()

        assert on_shelf(other) == []


class TestWaiting:
    """What nobody has to hear the answer to goes with what comes next."""

    def test_nothing_is_sent_before_something_is_asked(self, connection: Connection, turns: list[Any]) -> None:
        put_later(connection, 1, 2)
        turns_before = len(turns)

        found = on_shelf(connection)

        assert turns_before == 0
        assert found == [1, 2]
        assert len(turns) == 1

    def test_the_end_sends_what_waits(self, connection: Connection, other: Connection, turns: list[Any]) -> None:
        with connection.transaction():
            put_later(connection, 1, 2)

        assert len(turns) == 1
        assert on_shelf(other) == [1, 2]

    def test_the_end_tells_what_failed_and_nothing_is_kept(self, connection: Connection, other: Connection) -> None:
        def put_twice() -> None:
            with connection.transaction():
                put(connection, 1)
                put_later(connection, 2, 2)

        with pytest.raises(psycopg.errors.UniqueViolation):
            put_twice()

        assert on_shelf(other) == []
        assert status_of(connection) == TransactionStatus.IDLE

    def test_what_waits_when_something_raises_is_forgotten(self, connection: Connection, other: Connection) -> None:
        def put_and_fail() -> None:
            with connection.transaction():
                put_later(connection, 1)
                raise LookupError

        with pytest.raises(LookupError):
            put_and_fail()

        put(connection, 2)
        assert on_shelf(other) == [2]

    def test_what_waits_can_be_sent_by_itself(self, connection: Connection, other: Connection) -> None:
        put_later(connection, 1)

        connection.flush()

        assert on_shelf(other) == [1]

    def test_where_nothing_waits_nothing_is_sent(self, connection: Connection, turns: list[Any]) -> None:
        connection.flush()

        assert turns == []

    def test_an_answer_can_be_asked_for_later(self, connection: Connection, turns: list[Any]) -> None:
        first = connection.cursor(row_factory=scalar_row).defer("SELECT generate_series(1, 3)")
        second = connection.cursor(row_factory=dict_row).defer("SELECT %s::int AS much", (7,))

        assert second.fetchall() == [{"much": 7}]
        assert first.fetchall() == [1, 2, 3]
        assert len(turns) == 1

    def test_one_statement_for_each_of_several_values_is_one_turn(
        self, connection: Connection, other: Connection, turns: list[Any]
    ) -> None:
        connection.execute_each("INSERT INTO shelf VALUES (%s, %s)", ((book, f"Volume {book}") for book in range(50)))

        assert len(turns) == 1
        assert other.execute("SELECT count(*), max(title) FROM shelf").fetchone() == (50, "Volume 9")

    def test_one_statement_for_no_values_is_none(self, connection: Connection, turns: list[Any]) -> None:
        connection.execute_each("INSERT INTO shelf VALUES (%s)", [])

        assert turns == []

    def test_when_one_of_several_values_fails_none_is_kept(self, connection: Connection, other: Connection) -> None:
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute_each("INSERT INTO shelf VALUES (%s)", [(1,), (2,), (1,), (3,)])

        assert on_shelf(other) == []

    def test_rows_are_taken_in_after_what_waits(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            connection.execute_later("ALTER TABLE shelf ADD COLUMN place text")
            put_later(connection, 1)
            with connection.copy("COPY shelf (id, place) FROM STDIN") as copy:
                copy.write_row((2, "left"))
                copy.write_row((3, None))
            put(connection, 4)

        found = other.execute("SELECT id, place FROM shelf ORDER BY id").fetchall()
        assert found == [(1, None), (2, "left"), (3, None), (4, None)]

    def test_rows_that_are_refused_undo_the_transaction(self, connection: Connection, other: Connection) -> None:
        def take_in_twice() -> None:
            with connection.transaction():
                put(connection, 1)
                with connection.copy("COPY shelf (id) FROM STDIN") as copy:
                    copy.write_row((1,))

        with pytest.raises(psycopg.errors.UniqueViolation):
            take_in_twice()

        assert on_shelf(other) == []
        assert status_of(connection) == TransactionStatus.IDLE


class TestParts:
    """A transaction within a transaction."""

    def test_a_part_is_kept_with_the_rest(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            put(connection, 1)
            with connection.transaction():
                put(connection, 2)
            seen_meanwhile = on_shelf(other)
            put(connection, 3)

        assert seen_meanwhile == []
        assert on_shelf(other) == [1, 2, 3]

    def test_a_part_can_be_the_first(self, connection: Connection, other: Connection) -> None:
        with connection.transaction(), connection.transaction():
            put(connection, 1)

        assert on_shelf(other) == [1]

    def test_a_part_can_fail_and_the_rest_is_kept(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            put(connection, 1)
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                put(connection, 2, 1)
            put(connection, 3)

        assert on_shelf(other) == [1, 3]

    def test_what_waits_before_a_part_does_not_fail_in_it(self, connection: Connection, other: Connection) -> None:
        def put_twice() -> None:
            with connection.transaction():
                put_later(connection, 1, 1)
                with connection.transaction():
                    raise AssertionError("never gets here")

        with pytest.raises(psycopg.errors.UniqueViolation):
            put_twice()

        assert on_shelf(other) == []

    def test_what_waits_in_a_part_fails_in_it(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            put(connection, 1)
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                put_later(connection, 2, 1)
            put(connection, 3)

        assert on_shelf(other) == [1, 3]

    def test_who_goes_on_in_a_part_after_a_failure_is_told_at_its_end(
        self, connection: Connection, other: Connection
    ) -> None:
        def put_twice() -> None:
            with connection.transaction(), pytest.raises(psycopg.errors.UniqueViolation):
                put(connection, 2, 1)

        with connection.transaction():
            put(connection, 1)
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                put_twice()
            put(connection, 3)

        assert on_shelf(other) == [1, 3]

    def test_what_waits_in_a_part_that_raises_is_forgotten(self, connection: Connection, other: Connection) -> None:
        def put_and_fail() -> None:
            with connection.transaction():
                put_later(connection, 2)
                raise LookupError

        with connection.transaction():
            put(connection, 1)
            with pytest.raises(LookupError):
                put_and_fail()

        assert on_shelf(other) == [1]

    def test_a_part_of_a_part_may_have_failed_when_the_part_does(
        self, connection: Connection, other: Connection
    ) -> None:
        def put_and_fail(*books: int) -> None:
            with connection.transaction():
                put(connection, *books)
                if books == (2,):
                    with pytest.raises(LookupError):
                        put_and_fail(3)
                raise LookupError

        with connection.transaction():
            put(connection, 1)
            with pytest.raises(LookupError):
                put_and_fail(2)
            put(connection, 4)

        assert on_shelf(other) == [1, 4]

    def test_several_parts_may_fail_one_after_the_other(self, connection: Connection, other: Connection) -> None:
        with connection.transaction():
            for book in range(5):
                put(connection, book)
                with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                    put(connection, 10 + book, book)

        assert on_shelf(other) == [0, 1, 2, 3, 4]

    def test_a_part_whose_connection_breaks_tells_so(self, connection: Connection, other: Connection) -> None:
        def lose() -> None:
            with connection.transaction(), connection.transaction():
                put(connection, 1)
                connection.execute("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")

        with pytest.raises(psycopg.OperationalError):
            lose()

        assert connection.closed
        assert on_shelf(other) == []


class TestChangedTables:
    """What PostgreSQL keeps fits the tables as they were."""

    def test_what_does_not_fit_any_more_closes_the_connection(self, connection: Connection, other: Connection) -> None:
        put(connection, 1)
        assert on_shelf(connection) == [1]
        other.execute("ALTER TABLE shelf ALTER COLUMN id TYPE bigint")

        with pytest.raises(psycopg.errors.FeatureNotSupported):
            on_shelf(connection)

        assert connection.closed
        assert on_shelf(other) == [1]

    def test_what_somebody_let_go_closes_the_connection(self, connection: Connection) -> None:
        assert on_shelf(connection) == []
        driver_of(connection).execute("DEALLOCATE ALL")

        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            on_shelf(connection)

        assert connection.closed

    def test_one_more_column_is_no_trouble(self, connection: Connection, other: Connection) -> None:
        put(connection, 1)
        assert on_shelf(connection) == [1]

        other.execute("ALTER TABLE shelf ADD COLUMN place text")

        put(connection, 2)
        assert on_shelf(connection) == [1, 2]


class TestReading:
    """How the rows of an answer are read."""

    def test_the_same_however_often_it_is_asked(self, connection: Connection) -> None:
        cursor = connection.execute("SELECT generate_series(1, 3)")

        assert [cursor.fetchone(), cursor.fetchone()] == [(1,), (1,)]
        assert [cursor.fetchall(), cursor.fetchall()] == [[(1,), (2,), (3,)]] * 2

    def test_all_of_them(self, connection: Connection) -> None:
        assert list(connection.execute("SELECT generate_series(1, 3)")) == [(1,), (2,), (3,)]

    def test_a_cursor_that_is_used_again_reads_from_the_beginning(self, connection: Connection) -> None:
        cursor = connection.cursor(row_factory=scalar_row)

        assert cursor.execute("SELECT generate_series(1, 3)").fetchall() == [1, 2, 3]
        assert cursor.execute("SELECT generate_series(4, 6)").fetchone() == 4
        assert cursor.defer("SELECT generate_series(7, 9)").fetchall() == [7, 8, 9]

    def test_two_at_the_same_time(self, connection: Connection) -> None:
        numbers = connection.execute("SELECT generate_series(1, 2)")
        words = connection.cursor(row_factory=dict_row, binary=True).execute("SELECT unnest(ARRAY['a', 'b']) AS word")

        assert numbers.fetchone() == (1,)
        assert words.fetchone() == {"word": "a"}
        assert numbers.fetchall() == [(1,), (2,)]
        assert words.fetchall() == [{"word": "a"}, {"word": "b"}]

    def test_what_has_no_rows_gives_none(self, connection: Connection) -> None:
        cursor = connection.execute("INSERT INTO shelf VALUES (1)")

        assert cursor.fetchone() is None
        assert cursor.fetchall() == []

    def test_rows_are_counted_whether_they_were_found_or_changed(self, connection: Connection) -> None:
        counts = [
            connection.execute(text).rowcount
            for text in (
                b"INSERT INTO shelf SELECT generate_series(1, 5)",
                b"UPDATE shelf SET title = 'it' WHERE id > 2",
                b"INSERT INTO shelf VALUES (6), (7) RETURNING id",
                b"INSERT INTO shelf VALUES (7) ON CONFLICT DO NOTHING",
                b"SELECT id FROM shelf WHERE id < 5",
                b"DELETE FROM shelf WHERE id = 99",
                b"CREATE TABLE books ()",
            )
        ]

        assert counts == [5, 3, 2, 0, 4, 0, 0]

    def test_of_what_was_read_nothing_is_kept_for_who_comes_next(self, connection: Connection) -> None:
        transformer = vars(connection)["_statements"]._transformer
        assert connection.execute("SELECT 'secret'").fetchall() == [("secret",)]

        # As the pool does with each that comes back.
        connection.rollback()

        assert transformer.pgresult is None
