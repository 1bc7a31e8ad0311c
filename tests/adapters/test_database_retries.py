"""Which work is repeated after a temporary failure, and which never is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import structlog
import trio

from adapters.postgres import database as databases
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.errors import ServiceUnavailable
from tests.adapters.counters import add_counters, count, on_every_connection, publish, sql, value
from tests.mailboxes import RecordedMailboxes
from tests.meeting import Meeting
from tests.postgres import CONNECTIONS_MAX


@pytest.fixture(autouse=True)
def _counters(connection: Connection) -> None:
    add_counters(connection)


async def transact_both_ways(database: PostgresDatabase, use_case: Callable[[Any, str, str], None]) -> None:
    """Run the use case twice at once, the second time with the counters exchanged."""

    async def transact(first: str, second: str) -> None:
        await database.transact(use_case, first, second)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(transact, "left", "right")
        nursery.start_soon(transact, "right", "left")


def terminate_own_connection(uow: Any) -> None:
    sql(uow, "SELECT pg_terminate_backend(pg_backend_pid())")
    sql(uow, "SELECT pg_sleep(5)")


async def test_a_serialization_failure_is_repeated(database: PostgresDatabase, connection: Connection) -> None:
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


async def test_a_serialization_failure_at_the_commit_is_repeated(
    database: PostgresDatabase, connection: Connection
) -> None:
    # Each writes what the other has read, so one of them fails, at the earliest when the other has committed.
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


async def test_a_deadlock_is_repeated(database: PostgresDatabase, connection: Connection) -> None:
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


async def test_a_transaction_that_loses_every_race_is_refused(
    database: PostgresDatabase, connection: Connection
) -> None:
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
    database: PostgresDatabase, connection: Connection, mailboxes: RecordedMailboxes
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

    def serve(uow: Any, served: Callable[[Any], None]) -> None:
        served(uow)

    request = structlog.contextvars.bound_contextvars(request_id="of-the-request")
    processors = [structlog.contextvars.merge_contextvars]
    with request, structlog.testing.capture_logs(processors) as lines, pytest.raises(ServiceUnavailable):
        await database.transact(partial(serve), use_case)

    assert attempts == [1]
    assert mailboxes.told == []
    # The log says which request, or what a job was doing.
    [line] = lines
    assert (line["event"], line["request_id"]) == ("database.commit_unknown", "of-the-request")
    assert line["use_case"] == "tests.adapters.test_database_retries.use_case"


async def test_statements_deferred_to_a_commit_that_got_no_answer_are_never_repeated(
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


async def test_a_reference_to_a_row_that_was_just_deleted_is_repeated(
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
async def test_statements_outdated_by_a_changed_table_are_repeated(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    def read(uow: Any) -> object:
        return sql(uow, "SELECT value FROM counters WHERE name = 'left'")

    # Now the statement is prepared on every connection.
    await on_every_connection(database, read)
    connection.execute("ALTER TABLE counters ALTER COLUMN value TYPE text")

    with structlog.testing.capture_logs() as lines:
        found = [await getattr(database, method)(read) for _ in range(2 * CONNECTIONS_MAX)]

    assert found == [[("0",)]] * 2 * CONNECTIONS_MAX
    assert lines == []
