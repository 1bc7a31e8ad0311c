"""Prepared statements: each statement is prepared once for each combination of types of its values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from adapters.postgres.driver import statements
from adapters.postgres.driver.connection import Connection
from tests.postgres import driver_of


def prepared(connection: Connection) -> list[tuple[Any, ...]]:
    """List the prepared statements of a connection, oldest first: the text and the types of the values."""
    return (
        driver_of(connection)
        .execute("SELECT statement, parameter_types::text[] FROM pg_prepared_statements ORDER BY prepare_time, name")
        .fetchall()
    )


def prepared_texts(connection: Connection) -> set[str]:
    return {text for text, _ in prepared(connection)}


def value_of(connection: Connection, text: LiteralString, *values: object) -> Any:
    """Read a single value."""
    [[value]] = connection.execute(text, values)
    return value


def test_a_statement_is_prepared_once_for_the_types_of_its_values(connection: Connection) -> None:
    for value in (1, 2, None, "3", 2**20, 3, None, "4"):
        assert value_of(connection, "SELECT %s::numeric", value) == (None if value is None else Decimal(value))

    assert prepared(connection) == [
        ("SELECT $1::numeric", ["smallint"]),
        ("SELECT $1::numeric", ["numeric"]),
        ("SELECT $1::numeric", ["integer"]),
    ]


def test_statements_of_one_round_trip_are_prepared_as_well(connection: Connection) -> None:
    connection.execute_later("SELECT 1")
    connection.execute("SELECT 2")
    before = prepared(connection)

    connection.execute_later("SELECT 1")
    connection.execute("SELECT 2")

    assert [text for text, _ in before] == ["SELECT 1", "SELECT 2"]
    assert prepared(connection) == before


def test_a_statement_is_not_prepared_without_prepare(connection: Connection) -> None:
    assert connection.execute("SELECT %s::int", (1,), prepare=False).fetchone() == (1,)
    connection.execute_later("SELECT 2")
    assert connection.execute("SELECT %s::int", (3,), prepare=False).fetchone() == (3,)

    assert prepared_texts(connection) == {"SELECT 2"}


@pytest.mark.parametrize("others", [0, 2])
def test_a_statement_that_could_not_be_prepared_is_prepared_again(connection: Connection, others: int) -> None:
    for _ in range(others):
        connection.execute_later("SELECT 1")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT count(*) FROM shelf")

    connection.execute("CREATE TABLE shelf ()")

    assert connection.execute("SELECT count(*) FROM shelf").fetchone() == (0,)
    assert "SELECT count(*) FROM shelf" in prepared_texts(connection)


def test_a_statement_that_was_not_executed_after_a_failure_is_prepared_again(connection: Connection) -> None:
    connection.execute_later("SELECT 1 / 0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 'later'")

    assert prepared_texts(connection) == {"SELECT 1 / 0"}
    assert connection.execute("SELECT 'later'").fetchone() == ("later",)


def test_a_statement_that_fails_for_some_values_stays_prepared(connection: Connection) -> None:
    assert value_of(connection, "SELECT 6 / %s::int", 2) == 3
    before = prepared(connection)

    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SELECT 6 / %s::int", (0,))

    assert value_of(connection, "SELECT 6 / %s::int", 3) == 2
    assert prepared(connection) == before


def test_a_rollback_keeps_the_prepared_statements(connection: Connection) -> None:
    def read_and_fail() -> None:
        with connection.transaction():
            connection.execute("SELECT 1")
            raise LookupError

    with pytest.raises(LookupError):
        read_and_fail()
    before = prepared(connection)
    with pytest.raises(LookupError):
        read_and_fail()

    assert {"BEGIN", "SELECT 1"} <= {text for text, _ in before}
    assert prepared(connection) == before


def test_above_the_maximum_the_least_recently_used_statement_is_deallocated(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PREPARED_MAX", 2)
    for text in ("SELECT 1", "SELECT 2", "SELECT 1"):
        connection.execute(text)

    assert connection.execute("SELECT 3").fetchone() == (3,)

    assert prepared_texts(connection) == {"SELECT 1", "SELECT 3"}
    assert connection.execute("SELECT 2").fetchone() == (2,)
    assert prepared_texts(connection) == {"SELECT 3", "SELECT 2"}


def test_one_round_trip_can_prepare_more_than_the_maximum(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PREPARED_MAX", 2)
    cursors = [connection.cursor().defer(b"SELECT %d" % (number % 4)) for number in range(10)]

    assert [cursor.fetchone() for cursor in cursors] == [(number % 4,) for number in range(10)]

    assert prepared_texts(connection) == {"SELECT 0", "SELECT 1"}


def test_at_the_maximum_a_transaction_can_still_be_rolled_back(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PREPARED_MAX", 2)

    def fail() -> None:
        with connection.transaction():
            connection.execute("SELECT 1 / %s::int", (1,))
            connection.execute("SELECT 1 / %s::int", (0,))

    for _ in range(2):
        with pytest.raises(psycopg.errors.DivisionByZero):
            fail()

    assert driver_of(connection).info.transaction_status == TransactionStatus.IDLE
    assert len(prepared_texts(connection)) == 2


def test_at_the_maximum_an_inner_transaction_can_still_be_rolled_back(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PREPARED_MAX", 2)

    with connection.transaction():
        value_of(connection, "SELECT 1 / %s::int", 1)
        with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
            value_of(connection, "SELECT 1 / %s::int", 0)
        found = value_of(connection, "SELECT 7")

    assert found == 7


def test_two_connection_objects_on_one_driver_connection_use_different_names(connection: Connection) -> None:
    connection.execute("SELECT 1")

    another = Connection(driver_of(connection))

    assert another.execute("SELECT 2").fetchone() == (2,)


def test_a_statement_whose_deallocation_was_not_executed_is_deallocated_later(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PREPARED_MAX", 2)

    def fail(number: int) -> None:
        connection.execute_later("SELECT 1 / 0")
        connection.execute(b"SELECT %d" % number)

    for number in range(0, 15, 3):
        connection.execute(b"SELECT %d" % number)
        connection.execute(b"SELECT %d" % (number + 1))
        with pytest.raises(psycopg.errors.DivisionByZero):
            fail(number + 2)

    assert len(prepared(connection)) <= 2
