"""The places of a dispatcher, in virtual time: slow receivers, receivers that hang, and requests that come first."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from actors.dispatching import ANSWER_SECONDS_MAX, QUICK_SECONDS, Capacity
from actors.precedence import WAIT_SECONDS_MAX, RequestsFirst
from ports.mailboxes import Due
from tests.actors.parcels import ITEMS, PLACES, Queues, Sender
from tests.mailboxes import RecordedMailboxes

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


@pytest.fixture
def mailboxes() -> RecordedMailboxes:
    return RecordedMailboxes()


async def test_slow_receivers_leave_their_places_to_quick_ones_and_do_so_at_once_the_next_time(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    slow = [f"slow{number}" for number in range(2 * PLACES)]
    queues = Queues(**dict.fromkeys(slow, 2 * ITEMS), quick=1)
    sender = Sender(queues, mailboxes, dict.fromkeys(slow, 5.0))
    sender.capacity = Capacity(targets_max=PLACES, slow_targets_max=2 * PLACES, items_max=ITEMS)
    nursery.start_soon(sender.run)

    await trio.sleep(2 * QUICK_SECONDS + 0.01)
    first = sender.sent == ["quick 0"]
    await trio.sleep(5)
    queues.due["quick"].append("quick 1")
    sender.box.send(Due())
    await trio.sleep(0.01)

    assert first
    assert sender.sent[-1] == "quick 1"
    assert sorted(queues.is_leased) == slow


async def test_a_receiver_gets_several_items_at_once_when_it_has_answered_one(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    seconds = {"answering": 1.0, "hanging": 2 * ANSWER_SECONDS_MAX}
    sender = Sender(Queues(answering=1 + 2 * ITEMS, hanging=4), mailboxes, seconds)
    nursery.start_soon(sender.run)
    sent: list[int] = []
    for _ in range(3):
        await trio.sleep(1.01)
        sent.append(len(sender.sent))
    await trio.sleep(2 * ANSWER_SECONDS_MAX)
    del seconds["hanging"]
    hanging = [item for item in sender.sent if item.startswith("hanging")]
    await trio.sleep(2 * ANSWER_SECONDS_MAX)

    assert sent == [1, 1 + ITEMS, 1 + 2 * ITEMS]
    assert hanging == ["hanging 0"]
    # The second one was on its way when it began to answer.
    assert [item for item in sender.sent if item.startswith("hanging")] == [f"hanging {number}" for number in range(4)]


async def test_no_more_slow_receivers_are_served_than_there_are_places_for_them(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    queues = Queues(**{f"slow{number}": 1 for number in range(4 * PLACES)})
    sender = Sender(queues, mailboxes, dict.fromkeys(queues.due, 5.0))
    sender.capacity = Capacity(targets_max=PLACES, slow_targets_max=PLACES)
    nursery.start_soon(sender.run)

    await trio.sleep(4)

    assert len(queues.is_leased) == 2 * PLACES
    await trio.sleep(8)
    assert queues.is_leased == []
    assert len(sender.sent) == 4 * PLACES


async def test_while_requests_are_served_attempts_begin_one_after_the_other(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    precedence = RequestsFirst()
    sender = Sender(Queues(one=ITEMS), mailboxes, precedence=precedence)
    with precedence.request():
        nursery.start_soon(sender.run)
        await trio.sleep(2.5 * WAIT_SECONDS_MAX)
        during = list(sender.sent)
    await trio.sleep(0.001)

    # The lease had the first turn.
    assert len(during) == 1
    assert len(sender.sent) == ITEMS
