"""Failed statements: what is logged and raised; and the time limits of every connection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, LiteralString

import pytest
import structlog
import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.platform.health_figures import PostgresFigures
from adapters.postgres.transaction import Aggregate, Tools
from core.errors import DatabaseFailed, ServiceUnavailable
from core.platform import health_figures
from core.sessions.origins import BACKGROUND
from core.spaced_reports import SpacedReports
from ports.metrics_of_work import StatementLimit
from tests.adapters.counters import add_counters, sql
from tests.mailboxes import RecordedMailboxes
from tests.shown_text import shows


@pytest.fixture(autouse=True)
def _counters(connection: Connection) -> None:
    add_counters(connection)


async def test_a_failed_statement_is_logged_without_its_values(database: PostgresDatabase) -> None:
    def use_case(uow: Any) -> None:
        sql(uow, "INSERT INTO counters VALUES (%s, 0)", "left")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed) as failed:
        await database.transact(use_case)

    assert not shows(str(failed.value), "left")
    assert failed.value.__suppress_context__
    (line,) = lines
    assert (line["error"], line["sqlstate"]) == ("UniqueViolation", "23505")
    assert line["where"].startswith("counters.py:")
    assert not shows(str(line), "left")


async def test_the_log_names_the_line_of_the_aggregate_that_ran_the_statement(database: PostgresDatabase) -> None:
    def use_case(uow: Any) -> None:
        Aggregate(uow._transaction)._value("SELECT 1 / 0")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed):
        await database.read(use_case)

    (line,) = lines
    assert line["where"].startswith("test_database_failures.py:")


async def test_a_statement_that_can_never_succeed_is_repeated_once_and_fails(database: PostgresDatabase) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        sql(uow, "SELECT count(*) FROM counters FOR UPDATE")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed):
        await database.read(use_case)

    assert len(attempts) == 2
    (line,) = lines
    assert (line["error"], line["sqlstate"]) == ("FeatureNotSupported", "0A000")
    assert line["where"].startswith("counters.py:")


async def test_a_failure_that_comes_again_and_again_is_logged_at_intervals_with_its_number(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_disk(uow: Any) -> None:
        sql(uow, "DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$")

    def divide(uow: Any) -> None:
        Aggregate(uow._transaction)._value("SELECT 1 / 0")

    database = replace(database, failures=SpacedReports(seconds_min=3600))
    with structlog.testing.capture_logs() as lines:
        for use_case, refusal in [(fill_disk, ServiceUnavailable), (divide, DatabaseFailed)] * 50:
            with pytest.raises(refusal):
                await database.read(use_case)
        with pytest.raises(ServiceUnavailable):
            await database.on_behalf_of(BACKGROUND).read(fill_disk)
        monkeypatch.setattr(database.failures, "_seconds_min", 0)
        with pytest.raises(ServiceUnavailable):
            await database.read(fill_disk)

    failed = [line for line in lines if line["event"] == "database.failed"]
    assert [(line["sqlstate"], line["times"]) for line in failed] == [("53100", 1), ("22012", 1), ("53100", 51)]


async def test_a_failed_commit_is_logged_like_a_failed_statement(
    database: PostgresDatabase, connection: Connection
) -> None:
    connection.execute("CREATE TABLE notes (name text REFERENCES counters DEFERRABLE INITIALLY DEFERRED)")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed):
        await database.transact(lambda uow: sql(uow, "INSERT INTO notes VALUES ('centre')"))

    (line,) = lines
    assert (line["error"], line["sqlstate"]) == ("ForeignKeyViolation", "23503")
    assert line["where"].startswith("database.py:")


async def test_a_statement_that_takes_too_long_is_aborted(
    database_url: str, tools: Tools, mailboxes: RecordedMailboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_connection, "STATEMENT_SECONDS_MAX", 0.05)
    pool = Pool(database_url, connections_max=1)
    database = PostgresDatabase(pool=pool, tools=tools, mailboxes=mailboxes)

    with pytest.raises(ServiceUnavailable):
        await database.transact(lambda uow: sql(uow, "SELECT pg_sleep(5)"))

    assert await database.read(lambda uow: sql(uow, "SELECT 1")) == [(1,)]
    await trio.to_thread.run_sync(pool.close)


async def test_every_connection_has_our_time_limits_whatever_its_url_says(
    database_url: str, tools: Tools, mailboxes: RecordedMailboxes
) -> None:
    url = make_conninfo(database_url, options="-c statement_timeout=0 -c work_mem=5MB")
    pool = Pool(url, connections_max=1)
    database = PostgresDatabase(pool=pool, tools=tools, mailboxes=mailboxes)
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "timezone", "work_mem")

    settings = await database.read(lambda uow: [sql(uow, "SELECT current_setting(%s)", name)[0][0] for name in names])

    assert settings == ["5s", "3s", "10s", "UTC", "5MB"]
    await trio.to_thread.run_sync(pool.close)


@pytest.mark.parametrize(
    ("limit", "sqlstate", "statement"),
    [
        ("statement_timeout", "57014", "SELECT pg_sleep(5)"),
        ("lock_timeout", "55P03", "SELECT name FROM counters FOR UPDATE"),
    ],
)
async def test_a_statement_that_takes_too_long_is_logged_and_counted_by_its_use_case(
    database_url: str,
    tools: Tools,
    raw_connection: RawConnection,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    sqlstate: str,
    statement: LiteralString,
) -> None:
    monkeypatch.setitem(timed_connection.SESSION_SETTINGS, limit, "50ms")
    counted: list[tuple[str, StatementLimit]] = []
    pool = Pool(database_url, connections_max=1)
    database = PostgresDatabase(
        pool=pool, tools=tools, mailboxes=RecordedMailboxes(), cancelled=lambda *labels: counted.append(labels)
    )
    monkeypatch.setattr(PostgresFigures, "database_time", lambda self: self._value(statement))

    with raw_connection.transaction(), structlog.testing.capture_logs() as lines:
        raw_connection.execute("LOCK TABLE counters")
        with pytest.raises(ServiceUnavailable):
            await database.on_behalf_of(BACKGROUND).transact(health_figures.database_time)

    assert counted == [("platform.health_figures.database_time", limit)]
    (line,) = [line for line in lines if line["event"] == "database.statement_cancelled"]
    assert (line["use_case"], line["limit"], line["sqlstate"], line["log_level"]) == (
        "platform.health_figures.database_time",
        limit,
        sqlstate,
        "error",
    )
    assert line["where"].startswith("test_database_failures.py:")
    await trio.to_thread.run_sync(pool.close)
