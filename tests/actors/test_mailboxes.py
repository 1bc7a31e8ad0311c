"""The boxes of actors: one slot for each message, and a rest in which they wait."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.mailboxes import Mailbox
from ports.mailboxes import Changed, Drain, Due, Figure, Message, WorkKind

PERIOD_SECONDS = 10.0
BACKLOG = Changed(Figure.BACKLOG)
# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


async def test_each_message_has_one_slot_and_all_that_wait_are_received_together(autojump_clock: MockClock) -> None:
    box = Mailbox()
    for message in (Due(), BACKLOG, Changed(Figure.SALES), Drain()):
        for _ in range(100):
            box.send(message)

    waiting = box.waiting
    received = await box.receive(PERIOD_SECONDS)

    assert (waiting, box.waiting) == (4, 0)
    assert received == {Due(), BACKLOG, Changed(Figure.SALES), Drain()}


async def test_a_message_whose_slot_is_taken_is_dropped_and_the_first_stays(autojump_clock: MockClock) -> None:
    box = Mailbox()
    first = Due(datetime(2026, 1, 1, tzinfo=UTC))

    box.send(first)
    box.send(Due())

    assert await box.receive(PERIOD_SECONDS) == {first}


async def test_a_message_wakes_the_actor_that_waits(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    box, received = Mailbox(), list[set[Message]]()

    async def listen() -> None:
        received.append(await box.receive(PERIOD_SECONDS))

    nursery.start_soon(listen)
    await wait_all_tasks_blocked()
    is_listening = box.is_listening
    box.send(BACKLOG)
    await wait_all_tasks_blocked()

    assert (is_listening, box.is_listening) == (True, False)
    assert received == [{BACKLOG}]


async def test_what_comes_in_a_rest_is_received_after_it(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    box, began_at = Mailbox(), trio.current_time()
    nursery.start_soon(_end_rest, box, began_at + 5)
    box.send(Due())

    async def send_another() -> None:
        await trio.sleep(1)
        for _ in range(100):
            box.send(BACKLOG)
            box.send(Due())
        assert (box.waiting, box.oldest_seconds) == (0, 0)

    nursery.start_soon(send_another)
    received = await box.receive(PERIOD_SECONDS, rest_seconds=5)

    assert (received, trio.current_time() - began_at) == ({Due(), BACKLOG}, 5)
    box.send(BACKLOG)
    assert box.waiting == 1


async def test_drain_ends_a_rest_at_once_and_is_never_forgotten(autojump_clock: MockClock) -> None:
    box, began_at = Mailbox(drains=True), trio.current_time()
    box.send(Due())
    box.send(Drain())

    received = await box.receive(PERIOD_SECONDS, rest_seconds=5)

    assert (received, trio.current_time(), box.is_draining) == ({Due(), Drain()}, began_at, True)


async def test_the_age_of_the_oldest_message_is_told_until_a_batch_takes_it(autojump_clock: MockClock) -> None:
    box = Mailbox()
    ages = [box.oldest_seconds]
    box.send(BACKLOG)
    await trio.sleep(3)
    box.send(Due())
    await trio.sleep(2)
    ages.append(box.oldest_seconds)

    taken = box.take()

    assert (taken, ages, box.oldest_seconds) == ({BACKLOG, Due()}, [0, pytest.approx(5)], 0)


async def test_an_actor_that_is_cancelled_while_it_waits_leaves_its_messages(autojump_clock: MockClock) -> None:
    box = Mailbox(WorkKind.MAIL)
    with trio.move_on_after(1):
        await box.receive(PERIOD_SECONDS)
    box.send(Due())

    assert await box.receive(PERIOD_SECONDS) == {Due()}


async def _end_rest(box: Mailbox, at: float) -> None:
    """Send at the end of a rest what the timekeeper does."""
    await trio.sleep_until(at)
    assert box.due_at(is_answered=True) == at
    box.remind(Due())
    assert box.due_at(is_answered=True) == math.inf
