"""Announcements between processes over a real PostgreSQL: one leads, all hear, and a lost connection is noticed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import pytest
import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres import listening as listening_in_postgres
from adapters.postgres.announcing import ANNOUNCE_FEED
from adapters.postgres.driver.connection import Connection
from adapters.postgres.listening import PostgresListening, PostgresListeningConnection
from core.billing.provider import BillingMode
from core.ids import PLATFORM
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret
from core.webhooks import sequencing
from ports.listening import LIVE, ListeningFailed, Polled, Word
from tests.clock import SettableClock
from tests.ids import new_id
from tests.postgres import Databases
from tests.waiting import eventually

# Longer than anything here takes: what is awaited comes by itself.
LONG_SECONDS = 10.0
SHORT_SECONDS = 0.01
END_LISTENING = """
    SELECT pg_terminate_backend(pid)
    FROM   pg_stat_activity
    WHERE  datname = current_database() AND application_name = 'gatehouse' AND query ~ 'gatehouse_polls'
"""


@pytest.fixture
def listening(database_url: str) -> PostgresListening:
    return PostgresListening(Secret(database_url), mode=BillingMode.SANDBOX)


@pytest.fixture
async def pair(
    listening: PostgresListening,
) -> AsyncIterator[tuple[PostgresListeningConnection, PostgresListeningConnection]]:
    """The connections of two processes."""
    async with listening.open() as first, listening.open() as second:
        yield first, second


async def words(connection: PostgresListeningConnection, seconds: float = LONG_SECONDS) -> list[set[str]]:
    """Return what the next announcements say, besides those with which other connections begin."""
    while heard := await connection.hear(seconds):
        if said := [set(words) for words in heard if not any(word.startswith("probe:") for word in words)]:
            return said
    return []


async def test_one_connection_leads_until_it_leaves(
    pair: tuple[PostgresListeningConnection, PostgresListeningConnection],
) -> None:
    first, second = pair
    before = await first.try_to_lead(), await second.try_to_lead()

    await first.leave()

    assert await words(second) == [{Word.LEFT}]
    assert (*before, await second.try_to_lead(), await first.try_to_lead()) == (True, False, True, False)


async def test_the_end_of_the_session_ends_its_lead(listening: PostgresListening) -> None:
    async with AsyncExitStack() as others:
        second = await others.enter_async_context(listening.open())
        async with listening.open() as first:
            assert await first.try_to_lead()
        # PostgreSQL ends the session a moment after its connection.
        await eventually(second.try_to_lead)


async def test_a_poll_finds_what_is_due_and_announces_it_to_all(
    pair: tuple[PostgresListeningConnection, PostgresListeningConnection],
    transact: Callable[..., Any],
    clock: SettableClock,
) -> None:
    first, second = pair
    await first.try_to_lead()
    nothing = await first.poll(clock()), await words(second)
    transact(mail.send, "a@example.org", MailTemplate.TEST)

    due = await first.poll(clock())

    assert nothing == (Polled({}, processes=2), [{Word.POLLED, f"{LIVE}2"}])
    assert due == Polled({"mail": clock()}, processes=2)
    assert await words(second) == [{Word.POLLED, f"{LIVE}2", "mail"}]
    # The process that leads has what it found, and hears everything else.
    await second.leave()
    assert await words(first) == [{Word.LEFT}]


async def test_what_is_due_later_is_found_and_not_announced(
    pair: tuple[PostgresListeningConnection, PostgresListeningConnection], transact: Callable[..., Any]
) -> None:
    first, second = pair
    transact(mail.send, "a@example.org", MailTemplate.TEST)

    polled = await first.poll(datetime(2000, 1, 1, tzinfo=UTC))

    assert set(polled.due) == {"mail"}
    assert await words(second) == [{Word.POLLED, f"{LIVE}2"}]


async def test_a_process_counts_while_it_listens_on_this_database(
    listening: PostgresListening, databases: Databases, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening_in_postgres, "COUNT_SECONDS", 0.0)
    with databases.migrated() as other_url:
        elsewhere = PostgresListening(Secret(other_url), mode=BillingMode.SANDBOX)
        async with listening.open() as first, elsewhere.open():
            alone = await first.poll(clock())
            async with listening.open(), listening.open():
                together = await first.poll(clock())

            async def is_alone() -> bool:
                return (await first.poll(clock())).processes == 1

            # PostgreSQL ends the sessions a moment after their connections.
            await eventually(is_alone)

    assert (alone.processes, together.processes) == (1, 3)


async def test_between_two_counts_the_last_number_is_announced(
    pair: tuple[PostgresListeningConnection, PostgresListeningConnection],
    listening: PostgresListening,
    clock: SettableClock,
) -> None:
    first, _ = pair
    counted = await first.poll(clock())

    async with listening.open():
        assert await first.poll(clock()) == counted == Polled({}, processes=2)


async def test_announcements_of_other_sessions_wake_one_that_waits(
    pair: tuple[PostgresListeningConnection, PostgresListeningConnection],
    connection: Connection,
) -> None:
    heard: list[set[str]] = []

    async def hear() -> None:
        heard.extend(await words(pair[0]))

    async with trio.open_nursery() as waiting:
        waiting.start_soon(hear)
        await trio.testing.wait_all_tasks_blocked()
        connection.execute(ANNOUNCE_FEED)

    assert heard == [{Word.FEED}]


async def test_without_an_announcement_hearing_ends_after_its_time(listening: PostgresListening) -> None:
    async with listening.open() as connection:
        assert await connection.hear(SHORT_SECONDS) == []


async def test_a_connection_that_ends_is_noticed_while_waiting(
    listening: PostgresListening, connection: Connection
) -> None:
    async with listening.open() as lost:
        await lost.try_to_lead()
        connection.execute(END_LISTENING)

        with pytest.raises(ListeningFailed):
            await lost.hear(LONG_SECONDS)
        with pytest.raises(ListeningFailed):
            await lost.try_to_lead()


async def test_a_server_that_cannot_be_reached_is_named_without_its_address(database_url: str) -> None:
    address = Secret(make_conninfo(database_url, host="/nowhere"))

    with pytest.raises(ListeningFailed) as failed:
        async with PostgresListening(address, mode=BillingMode.SANDBOX).open():
            pass

    assert "No such file" in str(failed.value)
    assert "/nowhere" not in str(failed.value)


async def test_an_address_behind_which_notifications_do_not_arrive_is_refused(
    listening: PostgresListening, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if a pooler had given the statement to another session.
    monkeypatch.setattr(listening_in_postgres, "PREPARE", "SELECT 1")
    monkeypatch.setattr(listening_in_postgres, "PROBE_SECONDS_MAX", SHORT_SECONDS)

    with pytest.raises(ListeningFailed, match="transaction mode"):
        async with listening.open():
            pass


async def test_handing_on_events_is_announced_with_its_commit(
    listening: PostgresListening, transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    async with listening.open() as waiting:
        transact(sequencing.assign_positions, 10)
        connection.execute(
            """
            INSERT INTO events (id, type, organization_id, data, occurred_at)
            VALUES (%s, 'user.logout', %s, '{}', %s)
            """,
            (new_id(), PLATFORM, clock()),
        )
        nothing = await words(waiting, SHORT_SECONDS)

        transact(sequencing.assign_positions, 10)

        assert (nothing, await words(waiting)) == ([], [{Word.FEED}])


async def test_an_address_of_another_database_is_refused(databases: Databases, database_url: str) -> None:
    with databases.migrated() as other_url:
        own, other = Secret(database_url), Secret(other_url)
        async with PostgresListening(own, mode=BillingMode.SANDBOX, database_address=own).open():
            pass

        with pytest.raises(ListeningFailed):
            async with PostgresListening(other, mode=BillingMode.SANDBOX, database_address=own).open():
                pass
