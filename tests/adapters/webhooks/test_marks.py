"""The marks of organizations whose events may wait: which transaction waits for which, and that no event is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from psycopg.errors import LockNotAvailable

from adapters.postgres.driver.connection import Connection
from adapters.postgres.webhooks.sequencing import PostgresEventSequencing
from core.webhooks import sequencing
from core.webhooks.events import RETENTION
from core.webhooks.sequencing import SequencedBatch
from tests.adapters.webhooks.queues import publish_all
from tests.clock import SettableClock
from tests.marks import mark_due
from tests.postgres import connected
from tests.transactions import transaction_on
from tests.waiting import wait_until
from tests.world.builder import Builder, new_id

Transact = Callable[..., Any]

MARKED = "SELECT organization_id FROM log_dues WHERE events ORDER BY 1"


def publish(connection: Connection, organization_id: UUID, clock: SettableClock) -> None:
    """Insert an event and mark its organization, in the transaction of this connection."""
    mark_due(connection, organization_id)
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        VALUES (%s, 'user.invited', %s, '{"name": "a"}', %s)
        """,
        (new_id(), organization_id, clock()),
    )


def handed_on(transact: Transact) -> int:
    """Hand on what waits, and return how many events."""
    return transact(sequencing.assign_positions, 10).events


def test_the_first_event_marks_its_organization_and_handing_it_on_unmarks_it(
    acme: UUID, builder: Builder, transact: Transact
) -> None:
    transact(publish_all, acme, "a")
    assert builder.rows(MARKED) == [(acme,)]

    assert transact(sequencing.assign_positions, 10) == SequencedBatch(events=1, has_more=False, continue_after=None)

    assert builder.rows(MARKED) == []
    transact(publish_all, acme, "b")
    assert builder.rows(MARKED) == [(acme,)]
    assert handed_on(transact) == 1


@pytest.mark.parametrize("is_marked", [True, False])
def test_writers_of_an_organization_do_not_wait_for_each_other(
    acme: UUID, builder: Builder, transact: Transact, database_url: str, clock: SettableClock, is_marked: bool
) -> None:
    transact(publish_all, acme, "first")
    if not is_marked:
        assert handed_on(transact) == 1

    with connected(database_url) as one, connected(database_url) as other:
        other.execute("SET lock_timeout = '1ms'")
        with one.transaction(), other.transaction():
            publish(one, acme, clock)
            publish(other, acme, clock)

    assert builder.rows(MARKED) == [(acme,)]
    assert handed_on(transact) == (3 if is_marked else 2)


def test_a_mark_stays_while_a_writer_has_not_ended(
    acme: UUID, builder: Builder, transact: Transact, database_url: str, clock: SettableClock
) -> None:
    transact(publish_all, acme, "first")
    with connected(database_url) as writer, writer.transaction():
        publish(writer, acme, clock)

        assert handed_on(transact) == 1
        assert builder.rows(MARKED) == [(acme,)]

    assert handed_on(transact) == 1
    assert builder.rows(MARKED) == []


def test_an_event_that_is_committed_before_the_mark_is_locked_keeps_it(
    acme: UUID, builder: Builder, transact: Transact, connection: Connection, database_url: str, clock: SettableClock
) -> None:
    transact(publish_all, acme, "first")
    kept_since = clock() - RETENTION
    with connected(database_url) as other, connection.transaction():
        sequencer = PostgresEventSequencing(transaction_on(connection, now=clock()))
        waiting = sequencer.waiting(10, after=None, kept_since=kept_since)
        sequencer.assign_positions(waiting.events)
        with other.transaction():
            publish(other, acme, clock)
        sequencer.unmark(waiting.complete, kept_since=kept_since)

    assert waiting.complete == [acme]
    assert builder.rows(MARKED) == [(acme,)]
    assert handed_on(transact) == 1


def test_a_writer_waits_for_the_removal_of_the_mark_and_sets_it_again(
    acme: UUID, builder: Builder, transact: Transact, connection: Connection, database_url: str, clock: SettableClock
) -> None:
    transact(publish_all, acme, "first")
    kept_since = clock() - RETENTION
    with connected(database_url) as other:

        def write() -> None:
            with other.transaction():
                publish(other, acme, clock)

        with connection.transaction():
            sequencer = PostgresEventSequencing(transaction_on(connection, now=clock()))
            waiting = sequencer.waiting(10, after=None, kept_since=kept_since)
            sequencer.assign_positions(waiting.events)
            sequencer.unmark(waiting.complete, kept_since=kept_since)
            writing = threading.Thread(target=write)
            writing.start()
            wait_until(lambda: builder.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1)
        writing.join()

    assert builder.rows(MARKED) == [(acme,)]
    assert handed_on(transact) == 1


def test_an_organization_is_deleted_after_its_writers_and_takes_their_events_along(
    acme: UUID, builder: Builder, transact: Transact, database_url: str, clock: SettableClock
) -> None:
    transact(publish_all, acme, "first")
    with connected(database_url) as writer, connected(database_url) as other:

        def delete() -> None:
            other.execute("DELETE FROM organizations WHERE id = %s", (acme,))

        with writer.transaction():
            publish(writer, acme, clock)
            deleting = threading.Thread(target=delete)
            deleting.start()
            wait_until(lambda: builder.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1)
        deleting.join()

    assert builder.rows("SELECT count(*) FROM events") == [(0,)]
    assert builder.rows("SELECT count(*) FROM log_dues") == [(0,)]


def test_a_writer_waits_for_the_deletion_of_its_organization(
    acme: UUID, transact: Transact, database_url: str, clock: SettableClock
) -> None:
    transact(publish_all, acme, "first")
    with connected(database_url) as other, connected(database_url) as writer, other.transaction():
        other.execute("DELETE FROM organizations WHERE id = %s", (acme,))
        writer.execute("SET lock_timeout = '1ms'")

        with pytest.raises(LockNotAvailable):
            publish(writer, acme, clock)
