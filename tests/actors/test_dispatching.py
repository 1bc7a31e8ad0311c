"""What all senders share, in virtual time: places, leases, records, outages, and how a dispatcher stops."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.dispatching import (
    PERIOD_SECONDS,
    RECORD_PAUSE_SECONDS,
    RECORD_SECONDS_MAX,
)
from ports.mailboxes import Changed, Drain, Due, Figure, WorkKind
from tests.actors.parcels import ITEMS, LEASE_SECONDS, PLACES, Crash, Queues, Sender
from tests.mailboxes import RecordedMailboxes, let_work

# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


@pytest.fixture
def mailboxes() -> RecordedMailboxes:
    return RecordedMailboxes()


def raises_crash() -> AbstractContextManager[object]:
    """Expect the crash of an actor."""
    return pytest.RaisesGroup(Crash, flatten_subgroups=True)


async def test_a_receiver_that_hangs_takes_one_place_and_delays_no_other(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    queues = Queues(silent=100, dead=100, **{f"good{number}": 2 for number in range(20)})
    sender = Sender(queues, mailboxes, {"silent": math.inf, "dead": math.inf})
    nursery.start_soon(sender.run)

    await trio.sleep(PERIOD_SECONDS / 2)

    assert len(sender.sent) == 40
    assert queues.is_leased == ["silent", "dead"]


async def test_a_receiver_with_a_thousand_items_delays_no_other(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    queues = Queues(flooded=1_000, **{f"quiet{number}": 1 for number in range(2 * PLACES)})
    sender = Sender(queues, mailboxes, {"flooded": 0.01})
    nursery.start_soon(sender.run)

    await trio.sleep(0.5)

    flooded = [number for number, item in enumerate(sender.sent) if item.startswith("flooded")]
    quiet = [number for number, item in enumerate(sender.sent) if item.startswith("quiet")]
    assert len(quiet) == 2 * PLACES
    assert max(quiet) < flooded[2 * ITEMS]
    # And it goes on at once after each lease, not after a period.
    assert len(flooded) > 40 * ITEMS
    await trio.sleep(3)
    assert len(sender.sent) == len(set(sender.sent)) == 1_000 + 2 * PLACES


async def test_no_more_receivers_are_leased_than_there_are_places_and_a_free_place_is_taken_at_once(
    nursery: trio.Nursery, mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    receivers = 2 * PLACES + 1
    queues = Queues(**{f"slow{number}": 1 for number in range(receivers)})
    sender = Sender(queues, mailboxes, dict.fromkeys(queues.due, 4.5), has_more=False)
    nursery.start_soon(sender.run)

    for served in (PLACES, 2 * PLACES, receivers):
        await trio.sleep(2.25)
        assert len(queues.is_leased) == min(PLACES, receivers - len(sender.sent))
        await trio.sleep(2.25 + 0.01)
        assert len(sender.sent) == served
    assert queues.is_leased == []


async def test_what_was_leased_by_a_dispatcher_that_crashed_before_it_sent_is_sent_after_the_lease(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(one=2)
    queues.crashes_after = "lease"
    sender = Sender(queues, mailboxes)
    with pytest.raises((Crash, ExceptionGroup)):
        await sender.run()

    nursery.start_soon(sender.run)
    await trio.sleep(LEASE_SECONDS - 1)
    before = list(sender.sent)
    await trio.sleep(1)
    await let_work(sender)

    assert (before, sorted(sender.sent)) == ([], ["one 0", "one 1"])


async def test_a_crash_interrupts_the_other_attempts_and_all_of_them_are_made_again_after_the_lease(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(slow=2, quick=1)
    sender = Sender(queues, mailboxes, {"slow": 5.0, "quick": 1.0})
    sender.crashes_at = "quick 0"
    with raises_crash():
        await sender.run()
    assert (sender.sent, sender.measured) == ([], 0)
    sender.crashes_at = None

    nursery.start_soon(sender.run)
    await trio.sleep(LEASE_SECONDS)
    await let_work(sender)
    await trio.sleep(2 * 5)

    assert sorted(sender.sent) == ["quick 0", "slow 0", "slow 1"]


async def test_an_outcome_that_cannot_be_recorded_is_given_up_and_the_item_sent_again_after_the_lease(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(one=1)
    queues.outages |= {"record": math.inf, "release": math.inf}
    sender = Sender(queues, mailboxes)

    with capture_logs() as lines:
        nursery.start_soon(sender.run)
        await trio.sleep(LEASE_SECONDS - 1)
    before = list(sender.sent)
    queues.outages.clear()
    await trio.sleep(1)
    await let_work(sender)

    assert (before, sender.sent, queues.due) == (["one 0"], ["one 0", "one 0"], {"one": []})
    of_item = [line for line in lines if line.get("item") == "one 0" and line["job"] == "parcel"]
    postponed = math.ceil(RECORD_SECONDS_MAX / RECORD_PAUSE_SECONDS)
    assert [line["event"] for line in of_item] == ["parcel.record_postponed"] * postponed + ["parcel.not_recorded"]
    assert of_item[-1]["log_level"] == "error"


async def test_a_send_that_is_cancelled_is_not_recorded_and_made_again_after_the_lease(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(slow=1)
    sender = Sender(queues, mailboxes, {"slow": 5.0})
    with trio.move_on_after(2):
        await sender.run()
    assert (queues.due, queues.is_leased, sender.measured) == ({"slow": ["slow 0"]}, ["slow"], 0)

    nursery.start_soon(sender.run)
    await trio.sleep(LEASE_SECONDS)
    await let_work(sender)
    await trio.sleep(5)

    assert sender.sent == ["slow 0"]
    assert sender.measured == 1


async def test_what_was_sent_is_recorded_although_the_dispatcher_is_cancelled(
    mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    queues = Queues(one=1)
    queues.outages["record"] = 5
    sender = Sender(queues, mailboxes)

    with trio.move_on_after(2):
        await sender.run()

    assert (sender.sent, queues.due) == (["one 0"], {"one": []})


async def test_a_cancelled_dispatcher_waits_for_a_database_that_is_away_no_longer_than_it_may(
    mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    queues = Queues(one=1)
    queues.outages["record"] = math.inf
    began_at = trio.current_time()

    with trio.move_on_after(2):
        await Sender(queues, mailboxes).run()

    assert trio.current_time() - began_at == pytest.approx(RECORD_SECONDS_MAX)


async def test_a_dispatcher_that_waits_is_drained_at_once(
    mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    sender = Sender(Queues(), mailboxes)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sender.run)
        await trio.sleep(PERIOD_SECONDS / 2)
        began_at = trio.current_time()
        sender.box.send(Drain())

    assert trio.current_time() == began_at


async def test_a_dispatcher_without_a_free_place_finishes_what_is_in_flight_and_leases_no_more(
    mailboxes: RecordedMailboxes, autojump_clock: MockClock
) -> None:
    queues = Queues(**{f"slow{number}": 1 for number in range(3 * PLACES)})
    sender = Sender(queues, mailboxes, dict.fromkeys(queues.due, 5.0))
    began_at = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sender.run)
        await trio.sleep(1)
        sender.box.send(Drain())

    assert trio.current_time() - began_at == 5
    assert len(sender.sent) == PLACES
    assert queues.is_leased == []


async def test_a_dispatcher_leases_at_its_start_and_once_for_each_message(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(one=2 * ITEMS)
    sender = Sender(queues, mailboxes, has_more=False)
    nursery.start_soon(sender.run)

    await trio.sleep(10)
    for _ in range(2):
        await let_work(sender)

    assert len(queues.leases_at) == 3
    assert queues.due == {"one": []}


async def test_a_dispatcher_that_has_a_backlog_tells_it_and_when_it_is_gone(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(**{f"one{number}": 1 for number in range(3 * PLACES)})
    nursery.start_soon(Sender(queues, mailboxes, dict.fromkeys(queues.due, 1.0), has_more=False).run)
    told = [(WorkKind.FIGURES, Changed(Figure.BACKLOG))]

    await trio.sleep(0.5)
    during = list(mailboxes.sent)
    await trio.sleep(10)

    assert (during, mailboxes.sent) == (told, 2 * told)


async def test_a_dispatcher_takes_its_messages_with_each_lease_also_while_more_is_due_than_it_has_places_for(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(**{f"one{number}": 1 for number in range(40 * PLACES)})
    sender = Sender(queues, mailboxes, dict.fromkeys(queues.due, 1.0))
    nursery.start_soon(sender.run)
    await trio.sleep(0.5)

    ages = list[float]()
    for _ in range(30):
        sender.box.send(Due())
        await trio.sleep(1)
        ages.append(sender.box.oldest_seconds)

    assert len(sender.sent) >= 30 * PLACES
    # Not since the backlog began: then a busy dispatcher would look like one that does not listen.
    assert max(ages) <= 1


async def test_a_message_wakes_a_dispatcher(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(one=0)
    sender = Sender(queues, mailboxes)
    nursery.start_soon(sender.run)
    await trio.sleep(PERIOD_SECONDS / 4)

    queues.due["one"].append("one 0")
    sender.box.send(Due())
    await trio.sleep(PERIOD_SECONDS / 4)

    assert sender.sent == ["one 0"]


async def test_each_outage_of_the_database_is_logged_once(
    mailboxes: RecordedMailboxes, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    queues = Queues(one=1)
    sender = Sender(queues, mailboxes)
    nursery.start_soon(sender.run)

    with capture_logs() as lines:
        for _ in range(2):
            queues.outages["lease"] = 3
            for _ in range(5):
                await let_work(sender)

    expected = {"job": "parcel", "retry_seconds": PERIOD_SECONDS, "log_level": "warning"}
    assert lines == [expected | {"event": "parcel.database_away"}] * 2
