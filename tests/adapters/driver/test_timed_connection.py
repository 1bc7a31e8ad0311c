"""Connections that cannot be used although the server answers: behind a pooler, or on a read-only server."""

from __future__ import annotations

import socket
from contextlib import closing

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.servers import beginning_with, to_writable_server
from adapters.postgres.driver.suitability import PoolerUnsuitable, ServerReadOnly, reason
from adapters.postgres.driver.timed_connection import TimedConnection, problem_of

CLOSED_PORT = 1


def prepared_names(connection: TimedConnection) -> set[str]:
    """Prepare a statement and return the names that PostgreSQL keeps for the connection."""
    Connection(connection).execute("SELECT 1")
    return {name for (name,) in connection.execute("SELECT name FROM pg_prepared_statements").fetchall()}


def test_two_connections_never_use_the_same_name_for_a_prepared_statement(database_url: str) -> None:
    with closing(TimedConnection.open(database_url)) as one, closing(TimedConnection.open(database_url)) as other:
        names, names_of_other = prepared_names(one), prepared_names(other)

    assert names
    assert names_of_other
    assert names & names_of_other == set()


def test_a_connection_has_our_time_limits_and_those_options_that_the_address_names(database_url: str) -> None:
    url = make_conninfo(database_url, options="-c work_mem=9MB -c statement_timeout=1h")

    with closing(TimedConnection.open(url)) as connection:
        settings = [
            connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "work_mem", "jit")
        ]

    assert settings == [("5s",), ("3s",), ("10s",), ("9MB",), ("off",)]


@pytest.mark.parametrize("name", ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"])
def test_a_connection_without_one_of_our_time_limits_is_refused_with_the_cause(
    database_url: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # As behind a pooler that drops the parameter, while the role has the other settings.
    options = " ".join(
        f"-c {kept}={value}" for kept, value in timed_connection.SESSION_SETTINGS.items() if kept != name
    )
    monkeypatch.setattr(timed_connection, "with_settings", lambda *_: options)

    with pytest.raises(PoolerUnsuitable, match=rf"{name} is 0 instead of \d+s, because a connection pooler dropped"):
        TimedConnection.open(database_url)

    assert "see Poolers in ops/docs/database.md" in (problem_of(database_url, needs_session=False) or "")


def test_a_connection_whose_statements_may_be_compiled_works(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As behind a pooler that drops the parameter, while the role has our time limits.
    options = " ".join(f"-c {name}={value}" for name, value in timed_connection.SESSION_SETTINGS.items())
    monkeypatch.setattr(timed_connection, "with_settings", lambda *_: f"{options} -c jit=on")

    with closing(TimedConnection.open(database_url)) as connection:
        assert connection.execute("SHOW jit").fetchone() == ("on",)


def test_a_session_that_another_connection_has_used_is_refused(database_url: str) -> None:
    with closing(TimedConnection.open(database_url)) as first:
        with pytest.raises(PoolerUnsuitable, match="one session of PostgreSQL to several clients"):
            first._require_suitable()

        assert first.closed


def test_a_session_that_was_reset_in_between_is_as_good_as_new(database_url: str) -> None:
    with closing(TimedConnection.open(database_url)) as connection:
        # As a pooler in session mode does when a client leaves.
        connection.execute("DISCARD ALL")

        connection._require_suitable()


def test_a_read_only_server_is_refused_with_what_to_do(database_url: str) -> None:
    url = make_conninfo(database_url, options="-c default_transaction_read_only=on")

    with pytest.raises(ServerReadOnly, match="Promote it, or name all servers in GATEHOUSE_DATABASE_URL"):
        TimedConnection.open(url)
    with pytest.raises(ServerReadOnly):
        TimedConnection.open(to_writable_server(url))


def test_a_usable_server_has_no_problem(database_url: str) -> None:
    assert problem_of(database_url, needs_session=False) is None
    assert problem_of(to_writable_server(database_url), needs_session=False) is None


def test_a_server_that_is_away_is_passed_over_when_another_one_is_named(database_url: str) -> None:
    parameters = conninfo_to_dict(database_url)
    hosts, ports = f"127.0.0.1,{parameters['host']}", f"{CLOSED_PORT},{parameters.get('port') or 5432}"

    url = to_writable_server(make_conninfo(database_url, host=hosts, port=ports))

    assert problem_of(url, needs_session=False) is None


def test_a_server_that_does_not_answer_delays_only_the_first_connection(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TimedConnection, "last_server", ("", ""))
    parameters = conninfo_to_dict(database_url)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts, ports = f"127.0.0.1,{parameters['host']}", f"{silent.getsockname()[1]},{parameters.get('port') or 5432}"
        url = make_conninfo(database_url, host=hosts, port=ports)
        for _ in range(3):
            TimedConnection.open(url).close()

        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://db1,db2/gatehouse", ("db2,db1", "5432,5432")),
        ("postgresql://db1:6000,db2:5432,db3:6001/gatehouse", ("db2,db1,db3", "5432,6000,6001")),
        ("postgresql://db1:6000,db2/gatehouse", ("db2,db1", "5432,6000")),
        ("postgresql://db1,db3/gatehouse", ("db1,db3", ",")),
        ("postgresql://db1:6000,db2:6000/gatehouse", ("db1,db2", "6000,6000")),
        ("postgresql://db2/gatehouse", ("db2", "5432")),
        ("postgresql:///gatehouse", (None, None)),
    ],
)
def test_the_server_of_the_last_connection_is_tried_first(url: str, expected: tuple[str | None, str | None]) -> None:
    parameters = conninfo_to_dict(beginning_with(("db2", "5432"), url))

    assert (parameters.get("host"), parameters.get("port")) == expected


def test_a_wish_in_the_address_for_a_kind_of_server_is_kept() -> None:
    url = "postgresql://gatehouse@db1,db2/gatehouse?target_session_attrs=primary"

    assert to_writable_server(url) == url
    assert (
        conninfo_to_dict(to_writable_server("postgresql://db1,db2/gatehouse"))["target_session_attrs"] == "read-write"
    )


def test_the_reasons_of_several_servers_are_named_without_their_addresses() -> None:
    url = f"postgresql://gatehouse:hunter2@127.0.0.1,localhost/gatehouse?port={CLOSED_PORT}"

    with pytest.raises(psycopg.OperationalError) as failed:
        TimedConnection.open(url)

    assert reason(failed.value) == "Connection refused"
    assert (
        reason(
            psycopg.OperationalError(
                "refused\nMultiple connection attempts failed. All failures were:\n"
                "- host: 'db1', port: '5432', hostaddr: '10.0.0.1': connection failed: Connection refused\n"
                "\tIs the server running?\n"
                "- host: 'db2', port: '5432', hostaddr: '10.0.0.2': connection failed: session is read-only\n"
            )
        )
        == "Connection refused; session is read-only"
    )
