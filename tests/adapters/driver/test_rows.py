"""Row factories: what is made of a row, by the names of its columns or by their positions."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adapters.postgres.driver.columns import dict_row, kwargs_row, scalar_row, tuple_row
from adapters.postgres.driver.connection import Connection

BOOKS = "SELECT * FROM (VALUES (1, 'Emma'), (2, NULL)) AS books (number, title)"


@dataclass(frozen=True)
class Book:
    """A class that is made from rows."""

    title: str | None
    number: int


def test_a_tuple_has_the_values_in_their_order(connection: Connection) -> None:
    assert connection.cursor(row_factory=tuple_row).execute(BOOKS).fetchall() == [(1, "Emma"), (2, None)]
    assert connection.execute(BOOKS).fetchone() == (1, "Emma")


def test_a_dictionary_has_the_values_by_name(connection: Connection) -> None:
    found = connection.cursor(row_factory=dict_row).execute(BOOKS).fetchall()

    assert found == [{"number": 1, "title": "Emma"}, {"number": 2, "title": None}]


def test_a_scalar_is_the_first_value(connection: Connection) -> None:
    cursor = connection.cursor(row_factory=scalar_row)

    assert cursor.execute("SELECT generate_series(1, 3)").fetchall() == [1, 2, 3]
    assert cursor.execute("SELECT NULL").fetchall() == [None]


def test_a_class_gets_the_values_by_name_in_any_order(connection: Connection) -> None:
    found = connection.cursor(row_factory=kwargs_row(Book)).execute(BOOKS).fetchall()

    assert found == [Book(number=1, title="Emma"), Book(number=2, title=None)]


def test_a_function_can_make_the_rows(connection: Connection) -> None:
    def line(number: int, title: str | None) -> str:
        return f"{number}. {title or 'untitled'}"

    assert connection.cursor(row_factory=kwargs_row(line)).execute(BOOKS).fetchall() == ["1. Emma", "2. untitled"]


def test_an_unknown_column_is_an_error(connection: Connection) -> None:
    cursor = connection.cursor(row_factory=kwargs_row(Book)).execute("SELECT 1 AS number, 'Emma' AS name")

    with pytest.raises(TypeError):
        cursor.fetchone()


@pytest.mark.parametrize("is_binary", [False, True], ids=["text", "binary"])
def test_no_rows_are_an_empty_list(connection: Connection, *, is_binary: bool) -> None:
    cursor = connection.cursor(row_factory=dict_row, binary=is_binary).execute("SELECT 1 AS number WHERE false")

    assert cursor.fetchone() is None
    assert cursor.fetchall() == []
