"""Doorbells: a ring is kept until the next wait, and several rings count as one."""

import trio

from actors.doorbells import ANSWERED_SECONDS, MemoryDoorbells
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


async def test_while_bells_are_answered_the_period_becomes_long(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    doorbells.answer_for(is_answered=True)
    began_at = trio.current_time()

    await doorbells.wait(Bell.MAIL, PERIOD_SECONDS)

    assert ANSWERED_SECONDS / 2 <= trio.current_time() - began_at <= ANSWERED_SECONDS


async def test_when_bells_are_answered_no_more_every_actor_wakes(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    doorbells.answer_for(is_answered=True)
    began_at = trio.current_time()

    async with trio.open_nursery() as nursery:
        for bell in Bell:
            nursery.start_soon(doorbells.wait, bell, PERIOD_SECONDS)
        await trio.sleep(PERIOD_SECONDS / 2)
        doorbells.answer_for(is_answered=False)

    assert trio.current_time() - began_at == PERIOD_SECONDS / 2


async def test_a_wait_that_has_begun_becomes_long_too_when_bells_are_answered(autojump_clock: trio.abc.Clock) -> None:
    doorbells = MemoryDoorbells()
    began_at = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(doorbells.wait, Bell.MAIL, PERIOD_SECONDS)
        await trio.sleep(PERIOD_SECONDS / 2)
        doorbells.answer_for(is_answered=True)

    assert trio.current_time() - began_at >= ANSWERED_SECONDS / 2
