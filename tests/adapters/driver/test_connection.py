"""A connection: reading answers, and outdated prepared statements."""

from __future__ import annotations

import psycopg
import pytest

from adapters.postgres.driver.columns import dict_row, scalar_row
from adapters.postgres.driver.connection import Connection
from tests.adapters.driver.shelf import add, books
from tests.postgres import driver_of

pytestmark = pytest.mark.usefixtures("shelf")


class TestOutdatedStatements:
    """A prepared statement that PostgreSQL cannot execute any more closes the connection."""

    def test_a_prepared_statement_that_no_longer_fits_its_table_closes_the_connection(
        self, connection: Connection, other: Connection
    ) -> None:
        add(connection, 1)
        assert books(connection) == [1]
        other.execute("ALTER TABLE shelf ALTER COLUMN id TYPE bigint")

        with pytest.raises(psycopg.errors.FeatureNotSupported):
            books(connection)

        assert connection.closed
        assert books(other) == [1]

    def test_a_prepared_statement_that_postgresql_has_dropped_closes_the_connection(
        self, connection: Connection
    ) -> None:
        assert books(connection) == []
        driver_of(connection).execute("DEALLOCATE ALL")

        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            books(connection)

        assert connection.closed

    def test_an_added_column_does_not_outdate_statements(self, connection: Connection, other: Connection) -> None:
        add(connection, 1)
        assert books(connection) == [1]

        other.execute("ALTER TABLE shelf ADD COLUMN place text")

        add(connection, 2)
        assert books(connection) == [1, 2]


class TestCursors:
    """Reading the rows of an answer."""

    def test_an_answer_can_be_read_repeatedly(self, connection: Connection) -> None:
        cursor = connection.execute("SELECT generate_series(1, 3)")

        assert [cursor.fetchone(), cursor.fetchone()] == [(1,), (1,)]
        assert [cursor.fetchall(), cursor.fetchall()] == [[(1,), (2,), (3,)]] * 2

    def test_iterating_yields_all_rows(self, connection: Connection) -> None:
        assert list(connection.execute("SELECT generate_series(1, 3)")) == [(1,), (2,), (3,)]

    def test_a_cursor_that_is_used_again_reads_the_new_answer(self, connection: Connection) -> None:
        cursor = connection.cursor(row_factory=scalar_row)

        assert cursor.execute("SELECT generate_series(1, 3)").fetchall() == [1, 2, 3]
        assert cursor.execute("SELECT generate_series(4, 6)").fetchone() == 4
        assert cursor.defer("SELECT generate_series(7, 9)").fetchall() == [7, 8, 9]

    def test_two_answers_can_be_read_in_turn(self, connection: Connection) -> None:
        numbers = connection.execute("SELECT generate_series(1, 2)")
        words = connection.cursor(row_factory=dict_row, binary=True).execute("SELECT unnest(ARRAY['a', 'b']) AS word")

        assert numbers.fetchone() == (1,)
        assert words.fetchone() == {"word": "a"}
        assert numbers.fetchall() == [(1,), (2,)]
        assert words.fetchall() == [{"word": "a"}, {"word": "b"}]

    def test_an_answer_without_rows_is_none_or_empty(self, connection: Connection) -> None:
        cursor = connection.execute("INSERT INTO shelf VALUES (1)")

        assert cursor.fetchone() is None
        assert cursor.fetchall() == []

    def test_rowcount_counts_found_and_changed_rows(self, connection: Connection) -> None:
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

    def test_a_rollback_drops_the_answer_that_was_read_last(self, connection: Connection) -> None:
        transformer = vars(connection)["_statements"]._transformer
        assert connection.execute("SELECT 'secret'").fetchall() == [("secret",)]

        # As the pool does with each connection that comes back.
        connection.rollback()

        assert transformer.pgresult is None
