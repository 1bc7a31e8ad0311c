"""Sequencing in PostgreSQL: an organization by one transaction at a time, bounded by deliveries, in turns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.webhooks.sequencing import DUE, PostgresEventSequencing
from core.events.events import EventType
from core.webhooks import sequencing
from core.webhooks.events import RETENTION
from core.webhooks.sequencing import SequencedBatch, WaitingEvents
from tests.adapters.webhooks.queues import Sender, names, publish_all
from tests.clock import SettableClock
from tests.postgres import connected
from tests.transactions import transaction_on
from tests.waiting import wait_until
from tests.world.builder import Builder

Transact = Callable[..., Any]


def test_two_transactions_hand_on_different_organizations_at_the_same_time(
    acme: UUID, builder: Builder, transact: Transact, connection: Connection, database_url: str, clock: SettableClock
) -> None:
    globex = builder.organization("globex")
    for organization_id in (acme, globex):
        transact(publish_all, organization_id, "first")
    transact(sequencing.assign_positions, 10)
    transact(publish_all, acme, "a")
    with connected(database_url) as other, other.transaction(), connection.transaction():
        other.execute("SET lock_timeout = '1ms'")
        first = PostgresEventSequencing(transaction_on(other, now=clock()))
        first.assign_positions(first.waiting(10, after=None, kept_since=clock() - RETENTION).events)
        # It is committed while the other transaction has the lock of the first organization alone.
        transact(publish_all, globex, "b")

        second = PostgresEventSequencing(transaction_on(connection, now=clock()))
        waiting = second.waiting(10, after=None, kept_since=clock() - RETENTION)
        second.assign_positions(waiting.events)

    assert ([event.organization_id for event in waiting.events], waiting.busy) == ([globex], 1)
    rows = builder.rows("SELECT data ->> 'name', position FROM events WHERE data ->> 'name' <> 'first' ORDER BY 1")
    assert rows == [("a", 2), ("b", 2)]


@pytest.mark.parametrize("is_first", [True, False])
def test_the_events_of_an_organization_are_left_to_the_transaction_that_hands_them_on_already(
    acme: UUID, transact: Transact, connection: Connection, database_url: str, clock: SettableClock, is_first: bool
) -> None:
    if not is_first:
        transact(publish_all, acme, "before")
        transact(sequencing.assign_positions, 10)
    transact(publish_all, acme, "a")
    with connected(database_url) as other, other.transaction(), connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '1ms'")
        found = [
            PostgresEventSequencing(transaction_on(one, now=clock())).waiting(
                10, after=None, kept_since=clock() - RETENTION
            )
            for one in (other, connection)
        ]

    assert [(len(waiting.events), waiting.busy) for waiting in found] == [(1, 0), (0, 1)]


def test_what_another_transaction_has_handed_on_meanwhile_is_left_out(
    acme: UUID,
    builder: Builder,
    transact: Transact,
    connection: Connection,
    database_url: str,
    clock: SettableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transact(publish_all, acme, "before")
    transact(sequencing.assign_positions, 10)
    transact(publish_all, acme, "a")
    # The statement waits between its snapshot and the locks.
    queues = "ARRAY(SELECT organization_id FROM due"
    due_text = DUE.replace(queues, f"{queues}, pg_advisory_xact_lock_shared(1)", 1)
    found: list[WaitingEvents] = []
    with connected(database_url) as other, connected(database_url) as third:
        sequencer = PostgresEventSequencing(transaction_on(other, now=clock()))

        def look() -> None:
            with other.transaction():
                found.append(sequencer.waiting(10, after=None, kept_since=clock() - RETENTION))

        with monkeypatch.context() as patched, third.transaction():
            third.execute("SELECT pg_advisory_xact_lock(1)")
            patched.setattr("adapters.postgres.webhooks.sequencing.DUE", due_text)
            looking = threading.Thread(target=look)
            looking.start()
            wait_until(lambda: builder.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1)
            patched.undo()
            assert transact(sequencing.assign_positions, 10).events == 1
        looking.join()

    assert [(list(waiting.events), waiting.busy, waiting.seen_until) for waiting in found] == [([], 0, acme)]
    assert builder.rows("SELECT position FROM events ORDER BY 1") == [(1,), (2,)]


def test_nothing_handed_on_but_more_to_come_says_that_others_do_it(
    acme: UUID, transact: Transact, database_url: str
) -> None:
    transact(publish_all, acme, "before")
    transact(sequencing.assign_positions, 10)
    transact(publish_all, acme, "a")
    with connected(database_url) as other, other.transaction():
        other.execute("SELECT FROM event_positions FOR UPDATE")

        handed_on = transact(sequencing.assign_positions, 10)

    assert handed_on == SequencedBatch(events=0, has_more=True, continue_after=acme)
    assert transact(sequencing.assign_positions, 10, handed_on.continue_after).events == 1


def test_positions_go_on_from_those_that_were_given_for_all_organizations_together(
    acme: UUID, builder: Builder, transact: Transact
) -> None:
    builder.connection.execute("UPDATE event_sequencing SET last_position = 41")
    try:
        transact(publish_all, acme, "a")
        transact(sequencing.assign_positions, 10)
    finally:
        builder.connection.execute("UPDATE event_sequencing SET last_position = 0")

    assert builder.rows("SELECT position FROM events") == [(42,)]


def test_each_organization_has_positions_of_its_own(acme: UUID, builder: Builder, transact: Transact) -> None:
    globex = builder.organization("globex")
    transact(publish_all, acme, *"ab")
    transact(publish_all, globex, *"cde")
    transact(sequencing.assign_positions, 10)

    rows = builder.rows("SELECT data ->> 'name', position FROM events ORDER BY 1")
    assert rows == [("a", 1), ("b", 2), ("c", 1), ("d", 2), ("e", 3)]


def test_positions_have_no_gaps_and_follow_the_transactions(sender: Sender, acme: UUID, builder: Builder) -> None:
    for first in range(0, 30, 3):
        sender.publish(acme, *(str(number) for number in range(first, first + 3)))

    rows = builder.rows("SELECT position, data ->> 'name' FROM events ORDER BY position")

    assert rows == [(number + 1, str(number)) for number in range(30)]
    assert builder.rows("SELECT organization_id, last_position FROM event_positions") == [(acme, 30)]


def test_a_batch_that_is_rolled_back_is_handed_on_again(
    sender: Sender, acme: UUID, builder: Builder, transact: Transact
) -> None:
    sender.webhook(acme)

    def fail(uow: Any) -> None:
        sequencing.assign_positions(uow, 10)
        raise ZeroDivisionError

    transact(lambda uow: uow.publish(EventType.USER_INVITED, organization_id=acme, name="a"))
    with pytest.raises(ZeroDivisionError):
        transact(fail)
    assert builder.value("SELECT count(*) FROM webhook_deliveries") == 0

    assert transact(sequencing.assign_positions, 10) == SequencedBatch(events=1, has_more=False, continue_after=None)

    assert builder.rows("SELECT position FROM events") == [(1,)]
    assert names(sender.lease()) == ["a"]


def test_a_flood_of_one_organization_delays_no_event_of_another(
    sender: Sender, acme: UUID, builder: Builder, transact: Transact
) -> None:
    for number in range(10):
        sender.webhook(acme, f"hook {number}")
    globex = builder.organization("globex")
    transact(publish_all, acme, *(str(number) for number in range(50)))
    transact(publish_all, globex, "alone")

    handed_on = transact(sequencing.assign_positions, 100)

    assert (handed_on.events, handed_on.has_more) == (10, True)
    assert builder.value("SELECT position FROM events WHERE organization_id = %s", globex) == 1
    assert builder.value("SELECT count(*) FROM webhook_deliveries") == 90


def test_more_organizations_than_one_batch_has_take_turns(
    builder: Builder, transact: Transact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.postgres.webhooks.sequencing.ORGANIZATIONS_MAX", 2)
    ids = sorted(builder.organization(f"org-{number}") for number in range(5))
    for organization_id in ids:
        transact(publish_all, organization_id, *"abc")
    turns: list[UUID] = []
    before: set[tuple[UUID, UUID]] = set()
    after = None
    for _ in range(4):
        handed_on = transact(sequencing.assign_positions, 2, after)
        after = handed_on.continue_after
        given = set(builder.rows("SELECT organization_id, id FROM events WHERE position > 0"))
        turn = sorted(organization_id for organization_id, _ in given - before)
        turns += turn if turn != [ids[0], ids[4]] else reversed(turn)
        before = given

    assert turns == [*ids, *ids[:3]]


def test_events_of_no_organization_are_handed_on_too(builder: Builder, transact: Transact) -> None:
    transact(lambda uow: uow.publish(EventType.USER_INVITED, name="a"))

    assert transact(sequencing.assign_positions, 10).events == 1


def test_an_organization_that_waits_alone_has_its_turn_again(acme: UUID, builder: Builder, transact: Transact) -> None:
    transact(publish_all, acme, *"abc")
    seen: list[int] = []
    for _ in range(3):
        handed_on = transact(sequencing.assign_positions, 1, acme)
        seen.append(handed_on.events)

    rows = builder.rows("SELECT data ->> 'name' FROM events ORDER BY position")
    assert (seen, [name for (name,) in rows]) == ([1, 1, 1], ["a", "b", "c"])
