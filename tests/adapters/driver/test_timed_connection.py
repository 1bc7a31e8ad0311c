"""Connections that cannot be used although the server answers: behind a pooler, or on a read-only server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg.conninfo
import pytest

from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.timed_connection import ServerUnsuitable, TimedConnection, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def two(database_url: str) -> Iterator[tuple[TimedConnection, TimedConnection]]:
    """Two connections to one database."""
    with TimedConnection.open(database_url) as first, TimedConnection.open(database_url) as second:
        yield first, second


def prepared_names(connection: TimedConnection) -> set[str]:
    """Prepare a statement and return the names that PostgreSQL keeps for the connection."""
    Connection(connection).execute("SELECT 1")
    return {name for (name,) in connection.execute("SELECT name FROM pg_prepared_statements").fetchall()}


def test_two_connections_never_use_the_same_name_for_a_prepared_statement(
    two: tuple[TimedConnection, TimedConnection],
) -> None:
    first, second = (prepared_names(connection) for connection in two)

    assert first
    assert second
    assert first & second == set()


def test_a_connection_without_our_time_limits_is_refused_with_the_cause(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As a pooler does that ignores the start-up parameter.
    monkeypatch.setattr(timed_connection, "_with_time_limits", lambda _: "")

    with pytest.raises(ServerUnsuitable, match="statement_timeout is 0 s instead of 5 s, because a connection pooler"):
        TimedConnection.open(database_url)

    assert "through a pooler that passes it on" in (problem_of(database_url) or "")


def test_a_read_only_server_is_refused_with_what_to_do(database_url: str) -> None:
    url = psycopg.conninfo.make_conninfo(database_url, options="-c default_transaction_read_only=on")

    problem = problem_of(url) or ""

    assert problem.startswith("the server is read-only")
    assert "target_session_attrs=read-write" in problem


def test_a_usable_server_has_no_problem(database_url: str) -> None:
    assert problem_of(database_url) is None
