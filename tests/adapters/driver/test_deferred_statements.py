"""Deferred statements: they are sent with the next statement, with the COMMIT or by a flush."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from adapters.postgres.driver.columns import dict_row, scalar_row
from adapters.postgres.driver.connection import ROUND_TRIP_STATEMENTS_MAX, Connection
from tests.adapters.driver.shelf import add, add_later, books, transaction_status

pytestmark = pytest.mark.usefixtures("shelf")


def test_a_deferred_statement_is_sent_with_the_next_one(connection: Connection, round_trips: list[Any]) -> None:
    add_later(connection, 1, 2)
    round_trips_before = len(round_trips)

    found = books(connection)

    assert round_trips_before == 0
    assert found == [1, 2]
    assert len(round_trips) == 1


def test_the_commit_sends_the_deferred_statements(
    connection: Connection, other: Connection, round_trips: list[Any]
) -> None:
    with connection.transaction():
        add_later(connection, 1, 2)

    assert len(round_trips) == 1
    assert books(other) == [1, 2]


def test_the_commit_raises_the_failure_of_a_deferred_statement_and_rolls_back(
    connection: Connection, other: Connection
) -> None:
    def add_twice() -> None:
        with connection.transaction():
            add(connection, 1)
            add_later(connection, 2, 2)

    with pytest.raises(psycopg.errors.UniqueViolation):
        add_twice()

    assert books(other) == []
    assert transaction_status(connection) == TransactionStatus.IDLE


def test_a_rollback_drops_the_deferred_statements(connection: Connection, other: Connection) -> None:
    def add_and_fail() -> None:
        with connection.transaction():
            add_later(connection, 1)
            raise LookupError

    with pytest.raises(LookupError):
        add_and_fail()

    add(connection, 2)
    assert books(other) == [2]


def test_flush_sends_the_deferred_statements(connection: Connection, other: Connection) -> None:
    add_later(connection, 1)

    connection.flush()

    assert books(other) == [1]


def test_many_deferred_statements_go_out_by_the_hundred(connection: Connection, round_trips: list[Any]) -> None:
    add_later(connection, *range(2 * ROUND_TRIP_STATEMENTS_MAX + 1))

    assert len(round_trips) == 2
    connection.flush()
    assert len(round_trips) == 3


def test_flush_sends_nothing_without_deferred_statements(connection: Connection, round_trips: list[Any]) -> None:
    connection.flush()

    assert round_trips == []


def test_the_answers_of_deferred_statements_can_be_read_later(connection: Connection, round_trips: list[Any]) -> None:
    first = connection.cursor(row_factory=scalar_row).defer("SELECT generate_series(1, 3)")
    second = connection.cursor(row_factory=dict_row).defer("SELECT %s::int AS much", (7,))

    assert second.fetchall() == [{"much": 7}]
    assert first.fetchall() == [1, 2, 3]
    assert len(round_trips) == 1


def test_execute_each_runs_many_statements_in_one_round_trip(
    connection: Connection, other: Connection, round_trips: list[Any]
) -> None:
    connection.execute_each("INSERT INTO shelf VALUES (%s, %s)", ((book, f"Volume {book}") for book in range(50)))

    assert len(round_trips) == 1
    assert other.execute("SELECT count(*), max(title) FROM shelf").fetchone() == (50, "Volume 9")


def test_execute_each_without_values_sends_nothing(connection: Connection, round_trips: list[Any]) -> None:
    connection.execute_each("INSERT INTO shelf VALUES (%s)", [])

    assert round_trips == []


def test_execute_each_stores_nothing_when_one_statement_fails(connection: Connection, other: Connection) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute_each("INSERT INTO shelf VALUES (%s)", [(1,), (2,), (1,), (3,)])

    assert books(other) == []


def test_copy_runs_after_the_deferred_statements(connection: Connection, other: Connection) -> None:
    with connection.transaction():
        connection.execute_later("ALTER TABLE shelf ADD COLUMN place text")
        add_later(connection, 1)
        with connection.copy("COPY shelf (id, place) FROM STDIN") as copy:
            copy.write_row((2, "left"))
            copy.write_row((3, None))
        add(connection, 4)

    found = other.execute("SELECT id, place FROM shelf ORDER BY id").fetchall()
    assert found == [(1, None), (2, "left"), (3, None), (4, None)]


def test_a_copy_that_fails_rolls_the_transaction_back(connection: Connection, other: Connection) -> None:
    def copy_twice() -> None:
        with connection.transaction():
            add(connection, 1)
            with connection.copy("COPY shelf (id) FROM STDIN") as copy:
                copy.write_row((1,))

    with pytest.raises(psycopg.errors.UniqueViolation):
        copy_twice()

    assert books(other) == []
    assert transaction_status(connection) == TransactionStatus.IDLE
