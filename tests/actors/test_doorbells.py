"""Doorbells: a ring is a hint that is not lost while somebody sleeps, and never more than one hint."""

import trio

from actors.doorbells import MemoryDoorbells
from ports.doorbells import Bell

PERIOD_SECONDS = 10.0


async def test_a_ring_wakes_whoever_waits(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    began_at = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(doorbells.wait, Bell.MAIL, PERIOD_SECONDS)
        await trio.testing.wait_all_tasks_blocked()
        doorbells.ring(Bell.MAIL)

    assert trio.current_time() - began_at < PERIOD_SECONDS


async def test_a_ring_that_came_before_the_wait_is_heard(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    doorbells.ring(Bell.MAIL)
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert trio.current_time() - began_at < PERIOD_SECONDS


async def test_without_a_ring_the_wait_ends_after_its_period(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert trio.current_time() - began_at >= PERIOD_SECONDS


async def test_many_rings_wake_once(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    for _ in range(100):
        doorbells.ring(Bell.MAIL)
    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert trio.current_time() - began_at >= PERIOD_SECONDS


async def test_a_ring_at_one_bell_is_not_heard_at_another(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    doorbells.ring(Bell.EVENTS)
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert trio.current_time() - began_at >= PERIOD_SECONDS
