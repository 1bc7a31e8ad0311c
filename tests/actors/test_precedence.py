"""Requests come first: how long background work waits for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio
from trio.testing import MockClock

from actors.precedence import REQUEST_SECONDS_MAX, WAIT_SECONDS_MAX, RequestsFirst


async def seconds_of(precedence: RequestsFirst, turns: int = 1, work: Callable[[int], str] = str) -> list[float]:
    """Return after how long each of several turns came that were wanted at the same moment."""
    began_at = trio.current_time()
    waited: list[float] = []

    async def wait(number: int) -> None:
        await precedence.turn(work(number))
        waited.append(trio.current_time() - began_at)

    async with trio.open_nursery() as nursery:
        for number in range(turns):
            nursery.start_soon(wait, number)
    return waited


async def test_without_a_request_a_turn_comes_at_once(autojump_clock: MockClock) -> None:
    assert await seconds_of(RequestsFirst(), turns=100) == [0] * 100


async def test_a_turn_waits_for_the_end_of_the_last_request(autojump_clock: MockClock) -> None:
    precedence = RequestsFirst()

    async def serve(seconds: float) -> None:
        with precedence.request():
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, 0.3 * WAIT_SECONDS_MAX)
        nursery.start_soon(serve, 0.6 * WAIT_SECONDS_MAX)
        await trio.testing.wait_all_tasks_blocked()
        [seconds] = await seconds_of(precedence)

    assert seconds == pytest.approx(0.6 * WAIT_SECONDS_MAX)


async def test_with_requests_all_the_time_the_turns_for_each_work_come_one_after_the_other(
    autojump_clock: MockClock,
) -> None:
    precedence = RequestsFirst()
    with precedence.request():
        same = await seconds_of(precedence, turns=3, work=lambda _: "deliveries")
        different = await seconds_of(precedence, turns=3)

    assert same == pytest.approx([WAIT_SECONDS_MAX, 2 * WAIT_SECONDS_MAX, 3 * WAIT_SECONDS_MAX])
    assert different == pytest.approx([WAIT_SECONDS_MAX] * 3)


async def test_a_request_that_waits_for_events_delays_no_turn(autojump_clock: MockClock) -> None:
    precedence = RequestsFirst()
    with precedence.request():
        await trio.sleep(1.1 * REQUEST_SECONDS_MAX)

        assert await seconds_of(precedence) == [0]


async def test_a_request_that_fails_is_over(autojump_clock: MockClock) -> None:
    precedence = RequestsFirst()
    with pytest.raises(ZeroDivisionError), precedence.request():
        raise ZeroDivisionError

    assert await seconds_of(precedence) == [0]
