"""Fixtures of the driver's tests: a table, a second connection, and a record of round trips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from tests.postgres import connected, driver_of


@pytest.fixture
def shelf(connection: Connection) -> None:
    """An empty table of books."""
    connection.execute("CREATE TABLE shelf (id integer PRIMARY KEY, title text)")


@pytest.fixture
def other(database_url: str) -> Iterator[Connection]:
    """A second connection to the same database."""
    with connected(database_url) as connection:
        yield connection


@pytest.fixture
def round_trips(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The round trips over the connection."""
    taken: list[Any] = []
    driver = driver_of(connection)
    wait = driver.wait
    monkeypatch.setattr(driver, "wait", lambda work: (taken.append(work), wait(work))[1])
    return taken
