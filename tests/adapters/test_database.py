"""Running use cases: what is committed, what is rolled back, and when actors get messages."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.errors import Conflict, DatabaseFailed, NotFound
from core.sessions.origins import BACKGROUND, Origin
from ports.mailboxes import Due, Message, WorkKind
from tests.adapters.counters import add_counters, count, on_every_connection, publish, sql, value
from tests.mailboxes import RecordedMailboxes


@pytest.fixture(autouse=True)
def _counters(connection: Connection) -> None:
    add_counters(connection)


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


async def test_a_use_case_that_ignores_a_failed_statement_is_not_committed(
    database: PostgresDatabase, connection: Connection
) -> None:
    def use_case(uow: Any) -> None:
        count(uow)
        with pytest.raises(psycopg.errors.UniqueViolation):
            sql(uow, "INSERT INTO counters VALUES ('left', 0)")
        uow.made_due.add(WorkKind.MAIL)

    with pytest.raises(DatabaseFailed):
        await database.transact(use_case)

    assert value(connection) == 0


@pytest.mark.parametrize("method", ["transact", "read", "step"])
async def test_a_use_case_that_requires_a_transaction_runs_in_one_from_its_beginning(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    runs: list[int] = []

    def use_case(uow: Any, amount: int) -> str:
        runs.append(amount)
        uow.require_transaction()
        sql(uow, "UPDATE counters SET value = %s WHERE name = 'left'", amount)
        publish(uow)
        return "done"

    assert await getattr(database, method)(use_case, 5) == "done"

    assert value(connection) == 5
    assert runs == ([5] if method == "transact" else [5, 5])


@pytest.mark.parametrize("method", ["transact", "read", "step"])
async def test_deferred_statements_of_a_use_case_that_raises_are_never_sent(
    database: PostgresDatabase, connection: Connection, method: str
) -> None:
    def use_case(uow: Any) -> None:
        uow._transaction.connection.execute_later("UPDATE counters SET value = value + 1")
        raise NotFound

    with pytest.raises(NotFound):
        await getattr(database, method)(use_case)
    await on_every_connection(database, lambda uow: sql(uow, "SELECT 1"))

    assert value(connection) == 0


async def test_a_read_runs_each_statement_in_its_own_transaction(database: PostgresDatabase) -> None:
    def use_case(uow: Any) -> tuple[object, object]:
        return sql(uow, "SELECT pg_current_xact_id()"), sql(uow, "SELECT pg_current_xact_id()")

    first, second = await database.read(use_case)

    assert first != second


async def test_a_use_case_sees_the_origin_of_the_request(database: PostgresDatabase) -> None:
    origin = Origin(request_id="r1", ip_address="192.0.2.1")

    seen = await database.on_behalf_of(origin).transact(lambda uow: uow.origin)
    seen_before = await database.read(lambda uow: uow.origin)

    assert (seen, seen_before) == (origin, BACKGROUND)


async def test_actors_are_told_after_the_commit(
    database: PostgresDatabase, mailboxes: RecordedMailboxes, connection: Connection
) -> None:
    events_seen: list[object] = []
    send = mailboxes.send

    def look_and_send(work: WorkKind, message: Message) -> None:
        events_seen.append(connection.execute("SELECT count(*) FROM events").fetchone())
        send(work, message)

    mailboxes.send = look_and_send

    await database.transact(publish)

    assert mailboxes.sent == [(WorkKind.EVENTS, Due(database.tools.clock()))]
    assert events_seen == [(1,)]


async def test_a_use_case_that_raises_tells_no_actor(database: PostgresDatabase, mailboxes: RecordedMailboxes) -> None:
    def use_case(uow: Any) -> None:
        publish(uow)
        raise NotFound

    with pytest.raises(NotFound):
        await database.transact(use_case)

    assert mailboxes.told == []


async def test_an_attempt_that_was_repeated_tells_no_actor(
    database: PostgresDatabase, mailboxes: RecordedMailboxes
) -> None:
    attempts: list[int] = []

    def use_case(uow: Any) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            publish(uow)
            raise psycopg.errors.SerializationFailure

    await database.transact(use_case)

    assert len(attempts) == 2
    assert mailboxes.told == []


async def test_what_a_refusal_leaves_behind_does_not_wait_for_the_disk(database: PostgresDatabase) -> None:
    settings: list[Any] = []

    def leave(uow: Any) -> None:
        settings.extend(sql(uow, "SHOW synchronous_commit"))

    def refuse(_uow: Any) -> None:
        raise Conflict().leaving(leave)

    with pytest.raises(Conflict):
        await database.transact(refuse)

    assert settings == [("off",)]
