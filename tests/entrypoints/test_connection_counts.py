"""Which worker accepts: the one with the fewest connections; one that takes none delays the others a little."""

from __future__ import annotations

import math

import pytest
import trio
from trio.testing import MockClock

from entrypoints.connection_counts import KEPT_MORE, ConnectionCounts
from entrypoints.server import LEFT_IN_VAIN_MAX, LEFT_LOOKS, LEFT_SECONDS, _Turn

CONNECTIONS = 40
OF_ONE_MAX = 28


def test_a_worker_is_ahead_of_one_that_accepts_and_has_fewer() -> None:
    counts = ConnectionCounts(3)
    one, other = counts.of(0), counts.of(1)
    one.begin()
    one.opened()
    assert not one.is_ahead

    other.begin()
    assert (one.is_ahead, other.is_ahead) == (True, False)
    other.opened()
    assert (one.is_ahead, other.is_ahead) == (False, False)
    other.closed()
    other.end()
    assert not one.is_ahead
    other.begin()
    assert one.is_ahead
    # It was killed.
    counts.forget(1)
    assert not one.is_ahead


def test_of_many_connections_a_small_part_makes_no_difference() -> None:
    counts = ConnectionCounts(2)
    one, other = counts.of(0), counts.of(1)
    for count in (one, other):
        count.begin()
        for _ in range(800):
            count.opened()

    for _ in range(100):
        one.opened()
    assert not one.is_ahead
    one.opened()
    assert one.is_ahead


def test_a_worker_with_far_more_asks_as_many_clients_to_leave_as_are_too_many() -> None:
    counts = ConnectionCounts(2)
    crowded, fresh = counts.of(0), counts.of(1)
    crowded.begin()
    for _ in range(CONNECTIONS):
        crowded.opened()
    assert not crowded.sheds()

    fresh.begin()
    asked = sum(crowded.sheds() for _ in range(CONNECTIONS))
    # Those that were asked connect again, and get the worker with fewer.
    for _ in range(asked):
        crowded.closed()
        fresh.opened()

    assert asked == CONNECTIONS - KEPT_MORE
    assert not crowded.sheds()
    # By then the other one has far more, and so on: fewer each time, until both are even.
    for _ in range(asked):
        for one, another in ((fresh, crowded), (crowded, fresh)):
            if one.sheds():
                one.closed()
                another.opened()
    assert counts.least_but(0) is not None
    assert CONNECTIONS - OF_ONE_MAX <= (counts.least_but(0) or 0) <= OF_ONE_MAX


async def test_a_turn_comes_at_once_for_a_process_alone_and_for_one_that_is_not_ahead(
    autojump_clock: MockClock,
) -> None:
    counts = ConnectionCounts(2)
    counts.of(1).begin()

    assert await _Turn(None).comes(lambda: True)
    assert await _Turn(counts.of(0)).comes(lambda: True)

    assert trio.current_time() == 0


async def test_one_that_hangs_delays_the_others_for_a_moment_and_then_no_more(autojump_clock: MockClock) -> None:
    counts = ConnectionCounts(2)
    hanging = counts.of(1)
    hanging.begin()
    turn = _Turn(counts.of(0))
    with turn.held():
        turn.note_opened()
        for _ in range(LEFT_IN_VAIN_MAX):
            assert await turn.comes(lambda: True)
            turn.note_opened()
        waited = trio.current_time()
        for _ in range(100):
            assert await turn.comes(lambda: True)
            turn.note_opened()

        assert math.isclose(waited, LEFT_IN_VAIN_MAX * LEFT_SECONDS)
        assert trio.current_time() == waited

        # It accepts again.
        hanging.opened()
        assert await turn.comes(lambda: True)

        assert trio.current_time() > waited


async def test_what_another_one_has_taken_is_not_waited_for(autojump_clock: MockClock) -> None:
    counts = ConnectionCounts(2)
    counts.of(1).begin()
    turn = _Turn(counts.of(0))
    with turn.held():
        turn.note_opened()

        assert not await turn.comes(lambda: False)

        assert math.isclose(trio.current_time(), LEFT_SECONDS / LEFT_LOOKS)


async def test_of_workers_that_wake_together_each_gets_as_many(autojump_clock: MockClock) -> None:
    counts = ConnectionCounts(2)
    queued, taken = list(range(CONNECTIONS)), [0, 0]

    async def accept(number: int, *, task_status: trio.TaskStatus[None]) -> None:
        turn = _Turn(counts.of(number))
        with turn.held():
            task_status.started()
            await may_begin.wait()
            while queued:
                if await turn.comes(lambda: bool(queued)) and queued:
                    queued.pop()
                    taken[number] += 1
                    turn.note_opened()
                    # The first one is fast, and takes as many as it may.
                    while queued and not turn.is_anothers:
                        queued.pop()
                        taken[number] += 1
                        turn.note_opened()
                await trio.lowlevel.checkpoint()

    may_begin = trio.Event()
    async with trio.open_nursery() as nursery:
        for number in (0, 1):
            await nursery.start(accept, number)
        may_begin.set()

    assert sum(taken) == CONNECTIONS
    assert max(taken) <= CONNECTIONS // 2 + 3


@pytest.mark.parametrize("is_accepting", [True, False])
def test_a_worker_that_stops_asks_nobody_for_the_sake_of_the_others(is_accepting: bool) -> None:
    counts = ConnectionCounts(2)
    crowded = counts.of(0)
    crowded.begin()
    counts.of(1).begin()
    for _ in range(CONNECTIONS):
        crowded.opened()
    if not is_accepting:
        crowded.end()

    assert crowded.sheds() is is_accepting
