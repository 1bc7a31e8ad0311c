"""Sequencing in PostgreSQL: one transaction at a time, bounded by deliveries, in turns among organizations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from adapters.postgres.webhooks.sequencing import PostgresEventSequencing
from core.events.events import EventType
from core.webhooks import sequencing
from core.webhooks.events import RETENTION
from core.webhooks.sequencing import HandedOn, WaitingEvents
from tests.adapters.webhooks.queues import Sender, names, publish_all
from tests.postgres import connected
from tests.transactions import transaction_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection
    from tests.clock import SettableClock
    from tests.world.builder import Builder

    Transact = Callable[..., Any]


def test_while_one_transaction_hands_on_another_does_not_wait(
    acme: UUID, connection: Connection, database_url: str, clock: SettableClock
) -> None:
    with connected(database_url) as other, other.transaction(), connection.transaction():
        handed_on = [
            PostgresEventSequencing(transaction_on(one, now=clock())).waiting(
                10, after=None, kept_since=clock() - RETENTION
            )
            for one in (connection, other)
        ]

    assert handed_on == [WaitingEvents(events=[], has_more=False), None]


def test_a_batch_is_left_to_the_transaction_that_hands_on_already(transact: Transact, database_url: str) -> None:
    with connected(database_url) as other, other.transaction():
        other.execute("SELECT FROM event_sequencing FOR UPDATE")

        assert transact(sequencing.hand_on, 10) is None


def test_positions_have_no_gaps_and_follow_the_transactions(sender: Sender, acme: UUID, builder: Builder) -> None:
    for first in range(0, 30, 3):
        sender.publish(acme, *(str(number) for number in range(first, first + 3)))

    rows = builder.rows("SELECT position, data ->> 'name' FROM events ORDER BY position")

    assert rows == [(number + 1, str(number)) for number in range(30)]
    assert builder.value("SELECT last_position FROM event_sequencing") == 30


def test_a_batch_that_is_rolled_back_is_handed_on_again(
    sender: Sender, acme: UUID, builder: Builder, transact: Transact
) -> None:
    sender.webhook(acme)

    def fail(uow: Any) -> None:
        sequencing.hand_on(uow, 10)
        raise ZeroDivisionError

    transact(lambda uow: uow.publish(EventType.USER_INVITED, organization_id=acme, name="a"))
    with pytest.raises(ZeroDivisionError):
        transact(fail)
    assert builder.value("SELECT count(*) FROM webhook_deliveries") == 0

    assert transact(sequencing.hand_on, 10) == HandedOn(events=1, has_more=False, continue_after=None)

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

    handed_on = transact(sequencing.hand_on, 100)

    assert (handed_on.events, handed_on.has_more) == (10, True)
    assert builder.value("SELECT position FROM events WHERE organization_id = %s", globex) is not None
    assert builder.value("SELECT count(*) FROM webhook_deliveries") == 90


def test_more_organizations_than_one_batch_has_take_turns(
    builder: Builder, transact: Transact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.postgres.webhooks.sequencing.ORGANIZATIONS_MAX", 2)
    ids = sorted(builder.organization(f"org-{number}") for number in range(5))
    for organization_id in ids:
        transact(publish_all, organization_id, *"abc")
    turns: list[UUID] = []
    after = None
    for _ in range(4):
        handed_on = transact(sequencing.hand_on, 2, after)
        after = handed_on.continue_after
        last = builder.rows("SELECT organization_id FROM events ORDER BY position DESC NULLS LAST LIMIT 2")
        turns += [organization_id for (organization_id,) in reversed(last)]

    assert turns == [*ids, *ids[:3]]


def test_events_of_no_organization_are_handed_on_too(builder: Builder, transact: Transact) -> None:
    transact(lambda uow: uow.publish(EventType.USER_INVITED, name="a"))

    assert transact(sequencing.hand_on, 10).events == 1


def test_an_organization_that_waits_alone_has_its_turn_again(acme: UUID, builder: Builder, transact: Transact) -> None:
    transact(publish_all, acme, *"abc")
    seen: list[int] = []
    for _ in range(3):
        handed_on = transact(sequencing.hand_on, 1, acme)
        seen.append(handed_on.events)

    rows = builder.rows("SELECT data ->> 'name' FROM events ORDER BY position")
    assert (seen, [name for (name,) in rows]) == ([1, 1, 1], ["a", "b", "c"])
