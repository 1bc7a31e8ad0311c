"""The hop: what is committed and what is not, what is tried again and what never is, and who waits for how long."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import structlog
import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres import database as databases
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.pool import Pool
from core.errors import DatabaseFailed, NotFound, ServiceUnavailable
from core.events.events import EventType
from core.platform import health_figures
from core.sessions.callers import BACKGROUND, Origin
from ports.doorbells import Bell
from tests.meeting import Meeting, wait_for
from tests.postgres import CONNECTIONS_MAX
from tests.waiting import BUSY_MACHINE_SECONDS_MAX, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from adapters.postgres.driver.connection import Connection
    from adapters.postgres.transaction import Tools
    from tests.doorbells import RecordedDoorbells


@pytest.fixture(autouse=True)
def counters(connection: Connection) -> None:
    """Two counters that start at zero."""
    connection.execute("CREATE TABLE counters (name text PRIMARY KEY, value integer NOT NULL)")
    connection.execute("INSERT INTO counters VALUES ('left', 0), ('right', 0)")


def sql(uow: Any, statement: str, *parameters: object) -> list[Any]:
    return uow._transaction.connection.execute(statement, parameters).fetchall()


def count(uow: Any, name: str = "left") -> None:
    sql(uow, "UPDATE counters SET value = value + 1 WHERE name = %s", name)


def value(connection: Connection, name: str = "left") -> int:
    row = connection.execute("SELECT value FROM counters WHERE name = %s", (name,)).fetchone()
    assert row is not None
    return row[0]


async def transact_both_ways(database: PostgresDatabase, use_case: Callable[[Any, str, str], None]) -> None:
    """Run the use case twice at once, the second time with the counters the other way round."""

    async def transact(first: str, second: str) -> None:
        await database.transact(use_case, first, second)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(transact, "left", "right")
        nursery.start_soon(transact, "right", "left")


async def on_every_connection(database: PostgresDatabase, use_case: Callable[[Any], object]) -> None:
    """Let somebody do it on each of the connections that there may be."""
    together = Meeting(CONNECTIONS_MAX)

    def meet(uow: Any) -> None:
        together.wait()
        use_case(uow)

    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS_MAX):
            nursery.start_soon(database.read, meet)


def terminate_own_connection(uow: Any) -> None:
    sql(uow, "SELECT pg_terminate_backend(pg_backend_pid())")
    sql(uow, "SELECT pg_sleep(5)")


# What is committed.


async def test_a_use_case_that_returns_is_committed(database: PostgresDatabase, connection: Connection) -> None:
    def use_case(uow: Any, amount: int, *, name: str) -> str:
        sql(uow, "UPDATE counters SET value = %s WHERE name = %s", amount, name)
        return "done"

    result = await database.transact(use_case, 5, name="right")

    assert result == "done"
    assert value(connection, "right") == 5


async def test_a_use_case_that_raises_is_rolled_back(database: PostgresDatabase, connection: Connection) -> None:
    def use_case(uow: Any) -> None:
        count(uow)
        raise NotFound

    with pytest.raises(NotFound):
        await database.transact(use_case)

    assert value(connection) == 0


async def test_a_use_case_that_goes_on_after_a_failed_statement_is_not_taken_for_committed(
    database: PostgresDatabase, connection: Connection
) -> None:
    def use_case(uow: Any) -> None:
        count(uow)
        with pytest.raises(psycopg.errors.UniqueViolation):
            sql(uow, "INSERT INTO counters VALUES ('left', 0)")
        uow.bells.add(Bell.MAIL)

    with pytest.raises(DatabaseFailed):
        await database.transact(use_case)

    assert value(connection) == 0


@pytest.mark.parametrize("method", ["transact", "read", "step"])
async def test_what_waits_when_a_use_case_raises_is_never_sent(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    def use_case(uow: Any) -> None:
        uow._transaction.connection.execute_later("UPDATE counters SET value = value + 1")
        raise NotFound

    with pytest.raises(NotFound):
        await getattr(database, method)(use_case)
    await on_every_connection(database, lambda uow: sql(uow, "SELECT 1"))

    assert value(connection) == 0


async def test_a_read_runs_each_statement_by_itself(database: PostgresDatabase) -> None:
    def use_case(uow: Any) -> tuple[object, object]:
        return sql(uow, "SELECT pg_current_xact_id()"), sql(uow, "SELECT pg_current_xact_id()")

    first, second = await database.read(use_case)

    assert first != second


async def test_a_use_case_sees_where_the_request_came_from(database: PostgresDatabase) -> None:
    origin = Origin(request_id="r1", ip_address="192.0.2.1")

    seen = await database.on_behalf_of(origin).transact(lambda uow: uow.origin)
    seen_before = await database.read(lambda uow: uow.origin)

    assert (seen, seen_before) == (origin, BACKGROUND)


# Who is woken.


def publish(uow: Any) -> None:
    uow.publish(EventType.USER_LOGOUT)


async def test_doorbells_ring_after_the_commit(
    database: PostgresDatabase, doorbells: RecordedDoorbells, connection: Connection
) -> None:
    events_seen: list[object] = []
    ring = doorbells.ring
    count_events = "SELECT count(*) FROM events"
    doorbells.ring = lambda bell: (events_seen.append(connection.execute(count_events).fetchone()), ring(bell))[1]

    await database.transact(publish)

    assert doorbells.rung == [Bell.EVENTS]
    assert events_seen == [(1,)]


async def test_a_use_case_that_raises_wakes_nobody(database: PostgresDatabase, doorbells: RecordedDoorbells) -> None:
    def use_case(uow: Any) -> None:
        publish(uow)
        raise NotFound

    with pytest.raises(NotFound):
        await database.transact(use_case)

    assert doorbells.rung == []


async def test_an_attempt_that_was_repeated_wakes_nobody(
    database: PostgresDatabase, doorbells: RecordedDoorbells
) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            publish(uow)
            raise psycopg.errors.SerializationFailure

    await database.transact(use_case)

    assert len(attempts) == 2
    assert doorbells.rung == []


# What is tried again.


async def test_a_serialization_failure_is_tried_again(database: PostgresDatabase, connection: Connection) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        sql(uow, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        sql(uow, "SELECT value FROM counters")
        attempts.append(1)
        if len(attempts) == 1:
            connection.execute("UPDATE counters SET value = 10 WHERE name = 'left'")
        count(uow)

    await database.transact(use_case)

    assert len(attempts) == 2
    assert value(connection) == 11


async def test_a_serialization_failure_at_the_commit_is_tried_again(
    database: PostgresDatabase, connection: Connection
) -> None:
    # Each writes what the other has read, so one of them fails, and at the earliest when the first has committed.
    both_have_read = Meeting(2)
    attempts: list[str] = []

    def use_case(uow: Any, mine: str, other: str) -> None:
        sql(uow, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        ((seen,),) = sql(uow, "SELECT value FROM counters WHERE name = %s", other)
        attempts.append(mine)
        if attempts.count(mine) == 1:
            both_have_read.wait()
        sql(uow, "UPDATE counters SET value = %s WHERE name = %s", seen + 1, mine)

    await transact_both_ways(database, use_case)

    assert len(attempts) == 3
    assert {value(connection, "left"), value(connection, "right")} == {1, 2}


async def test_a_deadlock_is_tried_again(database: PostgresDatabase, connection: Connection) -> None:
    both_have_one = Meeting(2)
    attempts: list[str] = []

    def use_case(uow: Any, first: str, second: str) -> None:
        count(uow, first)
        attempts.append(first)
        if attempts.count(first) == 1:
            both_have_one.wait()
        count(uow, second)

    await transact_both_ways(database, use_case)

    assert len(attempts) == 3
    assert (value(connection, "left"), value(connection, "right")) == (2, 2)


async def test_losing_every_race_ends_in_a_refusal(database: PostgresDatabase, connection: Connection) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        sql(uow, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        sql(uow, "SELECT value FROM counters")
        attempts.append(1)
        connection.execute("UPDATE counters SET value = value + 10 WHERE name = 'left'")
        count(uow)

    with pytest.raises(ServiceUnavailable) as refused:
        await database.transact(use_case)

    assert refused.value.retry_after_seconds >= 1
    assert len(attempts) == databases.ATTEMPTS_MAX
    assert value(connection) == 10 * databases.ATTEMPTS_MAX


@pytest.mark.parametrize("method", ["transact", "read"])
async def test_a_connection_lost_before_the_commit_is_replaced(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            terminate_own_connection(uow)
        count(uow)

    await getattr(database, method)(use_case)

    assert len(attempts) == 2
    assert value(connection) == 1


@pytest.mark.parametrize("method", ["transact", "read"])
async def test_a_connection_lost_in_the_middle_of_several_statements_is_replaced(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        uow._transaction.connection.execute_later("UPDATE counters SET value = value + 1 WHERE name = 'right'")
        if len(attempts) == 1:
            uow._transaction.connection.execute_later("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")
        count(uow)

    await getattr(database, method)(use_case)

    assert len(attempts) == 2
    assert (value(connection), value(connection, "right")) == (1, 1)


async def test_connections_that_broke_while_idle_are_never_lent(
    database: PostgresDatabase, connection: Connection
) -> None:
    await on_every_connection(database, lambda _uow: None)
    connection.execute(
        "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name = 'gatehouse'"
    )
    attempts: list[int] = []

    for _ in range(2 * CONNECTIONS_MAX):
        await database.transact(lambda uow: attempts.append(1) or count(uow))

    assert len(attempts) == 2 * CONNECTIONS_MAX
    assert value(connection) == 2 * CONNECTIONS_MAX


async def test_a_commit_that_got_no_answer_is_never_repeated(
    database: PostgresDatabase, connection: Connection, doorbells: RecordedDoorbells
) -> None:
    connection.execute(
        """
        CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(5); RETURN NULL; END $$
        """
    )
    connection.execute(
        """
        CREATE CONSTRAINT TRIGGER break AFTER UPDATE ON counters DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION break()
        """
    )
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        publish(uow)
        count(uow)

    with structlog.testing.capture_logs() as lines, pytest.raises(ServiceUnavailable):
        await database.transact(use_case)

    assert attempts == [1]
    assert doorbells.rung == []
    assert [line["event"] for line in lines] == ["database.commit_unknown"]


async def test_what_waited_for_a_commit_that_got_no_answer_is_never_repeated(
    database: PostgresDatabase, connection: Connection
) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        uow._transaction.connection.execute_later("UPDATE counters SET value = value + 1")
        uow._transaction.connection.execute_later("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")

    with structlog.testing.capture_logs() as lines, pytest.raises(ServiceUnavailable):
        await database.transact(use_case)

    assert attempts == [1]
    assert [line["event"] for line in lines] == ["database.commit_unknown"]
    assert value(connection) == 0


async def test_a_reference_to_what_is_deleted_meanwhile_is_looked_at_again(
    database: PostgresDatabase, connection: Connection
) -> None:
    connection.execute("CREATE TABLE notes (name text REFERENCES counters)")

    def use_case(uow: Any) -> bool:
        if not sql(uow, "SELECT name FROM counters WHERE name = 'left'"):
            return False
        connection.execute("DELETE FROM counters WHERE name = 'left'")
        sql(uow, "INSERT INTO notes VALUES ('left')")
        return True

    assert await database.transact(use_case) is False


@pytest.mark.parametrize("method", ["transact", "read", "step"])
async def test_tables_that_changed_meanwhile_are_looked_at_again(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    def look(uow: Any) -> object:
        return sql(uow, "SELECT value FROM counters WHERE name = 'left'")

    # Each of them keeps the statement now.
    await on_every_connection(database, look)
    connection.execute("ALTER TABLE counters ALTER COLUMN value TYPE text")

    with structlog.testing.capture_logs() as lines:
        found = [await getattr(database, method)(look) for _ in range(2 * CONNECTIONS_MAX)]

    assert found == [[("0",)]] * 2 * CONNECTIONS_MAX
    assert lines == []


# What a caller is told.


async def test_a_refused_statement_is_told_without_its_values(database: PostgresDatabase) -> None:
    def use_case(uow: Any) -> None:
        sql(uow, "INSERT INTO counters VALUES (%s, 0)", "left")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed) as failed:
        await database.transact(use_case)

    assert "left" not in str(failed.value)
    assert failed.value.__suppress_context__
    (line,) = lines
    assert (line["error"], line["sqlstate"]) == ("UniqueViolation", "23505")
    assert line["where"].startswith("test_database.py:")
    assert "left" not in str(line)


async def test_what_no_table_could_ever_answer_is_told_as_a_failure(database: PostgresDatabase) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        sql(uow, "SELECT count(*) FROM counters FOR UPDATE")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed):
        await database.read(use_case)

    assert len(attempts) == 2
    (line,) = lines
    assert (line["error"], line["sqlstate"]) == ("FeatureNotSupported", "0A000")
    assert line["where"].startswith("test_database.py:")


async def test_a_refused_commit_is_told_like_a_refused_statement(
    database: PostgresDatabase, connection: Connection
) -> None:
    connection.execute("CREATE TABLE notes (name text REFERENCES counters DEFERRABLE INITIALLY DEFERRED)")

    with structlog.testing.capture_logs() as lines, pytest.raises(DatabaseFailed):
        await database.transact(lambda uow: sql(uow, "INSERT INTO notes VALUES ('centre')"))

    (line,) = lines
    assert (line["error"], line["sqlstate"]) == ("ForeignKeyViolation", "23503")
    assert line["where"].startswith("database.py:")


async def test_a_statement_that_takes_too_long_is_ended(
    database_url: str, tools: Tools, doorbells: RecordedDoorbells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_connection, "STATEMENT_SECONDS_MAX", 0.05)
    pool = Pool(database_url, connections_max=1)
    database = PostgresDatabase(pool=pool, tools=tools, doorbells=doorbells)

    with pytest.raises(ServiceUnavailable):
        await database.transact(lambda uow: sql(uow, "SELECT pg_sleep(5)"))

    assert await database.read(lambda uow: sql(uow, "SELECT 1")) == [(1,)]
    await trio.to_thread.run_sync(pool.close)


async def test_every_connection_has_its_limits_whatever_the_address_says(
    database_url: str, tools: Tools, doorbells: RecordedDoorbells
) -> None:
    url = make_conninfo(database_url, options="-c statement_timeout=0 -c work_mem=5MB")
    pool = Pool(url, connections_max=1)
    database = PostgresDatabase(pool=pool, tools=tools, doorbells=doorbells)
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "timezone", "work_mem")

    settings = await database.read(lambda uow: [sql(uow, "SELECT current_setting(%s)", name)[0][0] for name in names])

    assert settings == ["5s", "3s", "10s", "UTC", "5MB"]
    await trio.to_thread.run_sync(pool.close)


# Who waits, and who does not.


@asynccontextmanager
async def every_place_taken(database: PostgresDatabase) -> AsyncGenerator[None]:
    """Let callers take every place and connection, and keep them until the block ends."""
    door = trio.Event()
    inside: list[Any] = []

    def use_case(uow: Any) -> None:
        inside.append(uow)
        wait_for(door)

    async def is_full() -> bool:
        return len(inside) == CONNECTIONS_MAX

    async with trio.open_nursery() as nursery:
        try:
            for _ in range(CONNECTIONS_MAX):
                nursery.start_soon(database.read, use_case)
            await eventually(is_full)
            yield
        finally:
            door.set()


async def test_a_caller_without_a_place_is_refused_within_a_second(database: PostgresDatabase) -> None:
    async with every_place_taken(database):
        started = time.monotonic()

        with pytest.raises(ServiceUnavailable):
            await database.read(health_figures.probe)

        assert time.monotonic() - started < 1.0 + BUSY_MACHINE_SECONDS_MAX


async def test_waiting_for_a_place_can_be_cancelled(database: PostgresDatabase) -> None:
    async with every_place_taken(database):
        with trio.move_on_after(0.01) as deadline_scope:
            await database.read(health_figures.probe)

        assert deadline_scope.cancelled_caught
        assert database.pool.places.statistics().tasks_waiting == 0


async def test_a_cancelled_caller_leaves_a_whole_transaction(
    database: PostgresDatabase, connection: Connection, doorbells: RecordedDoorbells
) -> None:
    begun = trio.Event()
    door = trio.Event()

    def use_case(uow: Any) -> str:
        count(uow, "left")
        begun.set()
        wait_for(door)
        count(uow, "right")
        publish(uow)
        return "done"

    async def call(task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        with trio.CancelScope() as scope:
            task_status.started(scope)
            await database.transact(use_case)

    async with trio.open_nursery() as nursery:
        scope = await nursery.start(call)
        await begun.wait()
        scope.cancel()
        door.set()

    assert (value(connection, "left"), value(connection, "right")) == (1, 1)
    assert doorbells.rung == [Bell.EVENTS]


async def test_there_is_never_more_at_work_than_there_are_places(
    database: PostgresDatabase, connection: Connection
) -> None:
    running: list[int] = []
    most: list[int] = []

    def use_case(uow: Any) -> None:
        running.append(1)
        most.append(len(running))
        sql(uow, "SELECT pg_sleep(0.002)")
        running.pop()

    async with trio.open_nursery() as nursery:
        for _ in range(10 * CONNECTIONS_MAX):
            nursery.start_soon(database.read, use_case)

    backends = connection.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'gatehouse'").fetchall()
    assert max(most) <= CONNECTIONS_MAX
    assert len(backends) <= CONNECTIONS_MAX


async def test_the_pool_counts_its_connections(database: PostgresDatabase) -> None:
    async with every_place_taken(database):
        statistics = database.pool.statistics()

    assert (statistics.total, statistics.idle, statistics.maximum) == (CONNECTIONS_MAX, 0, CONNECTIONS_MAX)


async def test_a_closed_pool_refuses_at_once(database_url: str, database: PostgresDatabase) -> None:
    pool = Pool(database_url, connections_max=1)
    await trio.to_thread.run_sync(pool.close)
    database = replace(database, pool=pool)

    with pytest.raises(ServiceUnavailable):
        await database.transact(health_figures.probe)
