"""Doorbells: a ring is kept until the next wait, and several rings count as one."""

import trio

from actors.doorbells import MemoryDoorbells
from ports.doorbells import Bell

PERIOD_SECONDS = 10.0


async def test_a_ring_wakes_a_waiting_task(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    began_at = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(doorbells.wait, Bell.MAIL, PERIOD_SECONDS)
        await trio.testing.wait_all_tasks_blocked()
        doorbells.ring(Bell.MAIL)

    assert trio.current_time() - began_at < PERIOD_SECONDS


async def test_a_ring_before_the_wait_ends_the_wait_immediately(autojump_clock: trio.abc.Clock) -> None:
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


async def test_many_rings_end_only_one_wait(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    for _ in range(100):
        doorbells.ring(Bell.MAIL)
    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert trio.current_time() - began_at >= PERIOD_SECONDS


async def test_a_ring_of_one_bell_does_not_end_the_wait_for_another(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    doorbells.ring(Bell.EVENTS)
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert trio.current_time() - began_at >= PERIOD_SECONDS
