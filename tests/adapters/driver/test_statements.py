"""Statements on a connection: several in one round trip, failures, and lost connections."""

from __future__ import annotations

from threading import Timer
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.pq import PipelineStatus

from adapters.postgres.driver.connection import Connection
from tests.postgres import connected, driver_of

pytestmark = pytest.mark.usefixtures("shelf")

# More than a socket takes at once, so that both sides have to write at the same time.
MANY_BYTES = 4 * 2**20
PARAMETERS_MAX = 65_535


def value_of(connection: Connection, text: LiteralString, *values: object) -> Any:
    """Read a single value."""
    [[value]] = connection.execute(text, values)
    return value


class TestRoundTrips:
    """Several statements are sent together, and their answers are received together."""

    def test_deferred_statements_are_sent_in_order_with_the_next_one(
        self, connection: Connection, database_url: str
    ) -> None:
        with connected(database_url) as other:
            connection.execute_later("INSERT INTO shelf VALUES (1)")
            connection.execute_later("UPDATE shelf SET id = id + 1")
            before = value_of(other, "SELECT count(*) FROM shelf")

            found = connection.execute("SELECT id FROM shelf").fetchall()

        assert before == 0
        assert found == [(2,)]

    def test_statements_of_one_round_trip_are_one_transaction(self, connection: Connection) -> None:
        connection.execute_later("INSERT INTO shelf VALUES (1)")
        connection.execute_later("INSERT INTO shelf VALUES (2)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO shelf VALUES (1)")

        assert value_of(connection, "SELECT count(*) FROM shelf") == 0

    def test_after_a_failure_the_later_statements_are_not_executed(self, connection: Connection) -> None:
        # A rollback does not take back the values of a sequence.
        connection.execute("CREATE SEQUENCE runs")
        connection.execute_later("SELECT nextval('runs')")
        connection.execute_later("SELECT 1 / 0")
        connection.execute_later("SELECT nextval('runs')")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.flush()

        assert value_of(connection, "SELECT nextval('runs')") == 2

    def test_the_first_failure_is_raised(self, connection: Connection) -> None:
        connection.execute_later("SELECT 1 / 0")
        connection.execute_later("SELECT nothing")

        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.flush()

    def test_a_statement_that_failed_or_was_not_executed_has_no_answer(self, connection: Connection) -> None:
        before, failed, after = (
            connection.cursor().defer(text) for text in (b"SELECT 1", b"SELECT 1 / 0", b"SELECT 2")
        )
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.flush()

        assert before.fetchall() == [(1,)]
        for cursor in (failed, after):
            with pytest.raises(AssertionError):
                cursor.fetchall()

    def test_a_constraint_that_is_checked_at_the_end_of_the_round_trip_raises(self, connection: Connection) -> None:
        connection.execute("CREATE TABLE books (shelf integer REFERENCES shelf DEFERRABLE INITIALLY DEFERRED)")
        connection.execute_later("INSERT INTO books VALUES (1)")

        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute("SELECT 1")

        assert connection.execute("SELECT 2").fetchone() == (2,)

    def test_a_single_prepared_statement_is_sent_without_pipeline_mode(
        self, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[int] = []
        driver = driver_of(connection)
        wait = driver.wait

        def watching_wait(work: Any) -> Any:
            def watched() -> Any:
                wanted = next(work)
                seen.append(driver.pgconn.pipeline_status)
                while True:
                    try:
                        wanted = work.send((yield wanted))
                    except StopIteration as end:
                        return end.value

            return wait(watched())

        monkeypatch.setattr(driver, "wait", watching_wait)

        for _ in range(2):
            connection.execute("SELECT 1")
        connection.execute("SELECT 2", prepare=False)

        assert seen == [PipelineStatus.ON, PipelineStatus.OFF, PipelineStatus.OFF]

    @pytest.mark.parametrize("statements_before", [0, 1, 5])
    def test_large_values_are_sent_and_received_at_the_same_time(
        self, connection: Connection, statements_before: int
    ) -> None:
        much = "x" * MANY_BYTES
        cursors = [connection.cursor().defer("SELECT %s::text", (much,)) for _ in range(statements_before)]

        assert connection.execute("SELECT %s::text", (much,)).fetchone() == (much,)
        assert all(cursor.fetchone() == (much,) for cursor in cursors)

    def test_very_many_statements_can_be_executed_together(self, connection: Connection) -> None:
        connection.execute_each("INSERT INTO shelf VALUES (%s)", ((number,) for number in range(10_000)))

        assert value_of(connection, "SELECT count(*) FROM shelf") == 10_000

    @pytest.mark.parametrize("statements_before", [0, 1, 3])
    def test_a_round_trip_that_cannot_be_sent_closes_the_connection(
        self, connection: Connection, statements_before: int
    ) -> None:
        """Otherwise the answers to the part that was sent would be read as answers to the next round trip."""
        for _ in range(statements_before):
            connection.execute_later("SELECT 1")

        with pytest.raises(psycopg.OperationalError, match="parameters"):
            connection.execute(b"SELECT " + b", ".join([b"%s"] * (PARAMETERS_MAX + 1)), range(PARAMETERS_MAX + 1))

        assert connection.closed

    @pytest.mark.parametrize("prepare", [True, False])
    @pytest.mark.parametrize("text", ["COPY shelf FROM STDIN", "COPY shelf TO STDOUT"])
    def test_copy_is_refused_as_a_statement(
        self, connection: Connection, text: LiteralString, *, prepare: bool
    ) -> None:
        with pytest.raises(AssertionError, match="copy"):
            connection.execute(text, prepare=prepare)

        assert connection.closed


class TestLostConnections:
    """A connection that is lost raises an error and is closed."""

    @pytest.mark.parametrize("is_prepared", [False, True], ids=["first time", "prepared"])
    @pytest.mark.parametrize("statements_after", [0, 2])
    @pytest.mark.parametrize("statements_before", [0, 2])
    def test_a_connection_lost_during_a_round_trip_raises_an_error(
        self,
        connection: Connection,
        database_url: str,
        statements_before: int,
        statements_after: int,
        *,
        is_prepared: bool,
    ) -> None:
        text = "SELECT pg_sleep(%s)"
        if is_prepared:
            connection.execute(text, (0.0,))
        pid = driver_of(connection).info.backend_pid
        for _ in range(statements_before):
            connection.execute_later("SELECT 1")
        connection.execute_later(text, (60.0,))
        for _ in range(statements_after):
            connection.execute_later("SELECT 2")

        with connected(database_url) as other:
            end = Timer(0.05, other.execute, ("SELECT pg_terminate_backend(%s)", (pid,)))
            end.start()
            with pytest.raises(psycopg.OperationalError):
                connection.flush()
            end.join()

        assert connection.closed

    @pytest.mark.parametrize("statements_before", [0, 2])
    def test_a_connection_lost_before_a_round_trip_raises_an_error(
        self, connection: Connection, database_url: str, statements_before: int
    ) -> None:
        pid = driver_of(connection).info.backend_pid
        with connected(database_url) as other:
            assert value_of(other, "SELECT pg_terminate_backend(%s, 1000)", pid)
        for _ in range(statements_before):
            connection.execute_later("SELECT 1")

        for _ in range(2):
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 2")

        assert connection.closed
