"""Stepping aside: what goes on meanwhile, what comes back, and who is waited for."""

from __future__ import annotations

import contextvars
import gc
import math
import threading
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
import trio
from greenlet import greenlet

from adapters.postgres.driver.greenlets import is_in_greenlet, run_in_greenlet, wait_in_greenlet
from tests.meeting import Meeting, wait_for

if TYPE_CHECKING:
    from collections.abc import Generator

LONG_SECONDS = 10.0
SHORT_SECONDS = 0.01

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO")
WHAT: contextvars.ContextVar[Thing] = contextvars.ContextVar("WHAT")


class Thing:
    """Something that may be large, or secret."""


@contextmanager
def no_garbage_looked_for() -> Generator[None]:
    """Let nothing go but what nobody knows any more."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture
def places() -> trio.CapacityLimiter:
    """One place."""
    return trio.CapacityLimiter(1)


async def test_the_result_comes_back_on_the_same_thread(places: trio.CapacityLimiter) -> None:
    there = await run_in_greenlet(threading.get_ident, places=places, wait_seconds_max=LONG_SECONDS)

    assert there == threading.get_ident()
    assert places.borrowed_tokens == 0


async def test_what_is_raised_there_is_raised_here(places: trio.CapacityLimiter) -> None:
    def refuse() -> None:
        raise LookupError("nobody here")

    with pytest.raises(LookupError, match="nobody here"):
        await run_in_greenlet(refuse, places=places, wait_seconds_max=LONG_SECONDS)

    assert places.borrowed_tokens == 0


async def test_context_variables_go_along_and_changes_stay_there(places: trio.CapacityLimiter) -> None:
    WHO.set("me")

    def change() -> str:
        before = WHO.get()
        WHO.set("another")
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)
        return f"{before}, {WHO.get()}"

    assert await run_in_greenlet(change, places=places, wait_seconds_max=LONG_SECONDS) == "me, another"
    assert WHO.get() == "me"


async def test_only_what_is_run_aside_can_step_aside(places: trio.CapacityLimiter) -> None:
    assert await run_in_greenlet(is_in_greenlet, places=places, wait_seconds_max=LONG_SECONDS)
    assert not is_in_greenlet()
    with pytest.raises(AssertionError, match="can wait in it"):
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)


async def test_what_was_waited_for_is_given_or_raised(places: trio.CapacityLimiter) -> None:
    async def fail() -> None:
        raise LookupError("not there")

    def work() -> tuple[int, str]:
        thread = wait_in_greenlet(lambda: trio.to_thread.run_sync(threading.get_ident), seconds_max=LONG_SECONDS)
        with pytest.raises(LookupError) as failed:
            wait_in_greenlet(fail, seconds_max=LONG_SECONDS)
        return thread, str(failed.value)

    thread, failure = await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)

    assert thread != threading.get_ident()
    assert failure == "not there"


async def test_who_waits_longer_than_they_may_is_told_and_goes_on(places: trio.CapacityLimiter) -> None:
    def work() -> str:
        with pytest.raises(trio.Cancelled):
            wait_in_greenlet(trio.sleep_forever, seconds_max=SHORT_SECONDS)
        return "gone on"

    assert await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS) == "gone on"


async def test_each_wait_has_its_own_end(places: trio.CapacityLimiter) -> None:
    def work() -> None:
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS, spare_seconds=LONG_SECONDS)
        with pytest.raises(trio.Cancelled):
            wait_in_greenlet(trio.sleep_forever, seconds_max=SHORT_SECONDS, spare_seconds=SHORT_SECONDS)

    await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)


async def test_without_a_free_place_in_time_nothing_is_run(places: trio.CapacityLimiter) -> None:
    places.acquire_on_behalf_of_nowait("somebody")
    run: list[str] = []

    with pytest.raises(trio.TooSlowError):
        await run_in_greenlet(lambda: run.append("it"), places=places, wait_seconds_max=SHORT_SECONDS)

    assert run == []
    assert places.borrowed_tokens == 1


async def test_there_is_work_in_every_place_at_the_same_time() -> None:
    places = trio.CapacityLimiter(2)
    both_there = Meeting(2)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(lambda: run_in_greenlet(both_there.wait, places=places, wait_seconds_max=LONG_SECONDS))

    assert places.borrowed_tokens == 0


async def test_who_is_cancelled_does_not_even_begin(places: trio.CapacityLimiter) -> None:
    run: list[str] = []

    with trio.CancelScope() as scope:
        scope.cancel()
        await run_in_greenlet(lambda: run.append("it"), places=places, wait_seconds_max=LONG_SECONDS)

    assert run == []
    assert places.borrowed_tokens == 0


async def test_work_that_has_begun_is_finished_whoever_is_cancelled(places: trio.CapacityLimiter) -> None:
    door = trio.Event()
    results: list[str] = []

    def work() -> str:
        scope.cancel()
        trio.lowlevel.current_trio_token().run_sync_soon(door.set)
        wait_for(door)
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=math.inf)
        return "finished"

    with trio.CancelScope() as scope:
        results.append(await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS))

    assert results == ["finished"]
    assert places.borrowed_tokens == 0


async def test_of_work_that_is_done_nothing_is_kept(places: trio.CapacityLimiter) -> None:
    kept: list[weakref.ref[Thing]] = []

    async def caller() -> None:
        given, around = Thing(), Thing()
        WHAT.set(around)

        def work(given: Thing = given) -> Thing:
            result = Thing()
            kept.extend(map(weakref.ref, (given, WHAT.get(), result)))
            return result

        await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)

    with no_garbage_looked_for():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(caller)

        assert [thing() for thing in kept] == [None, None, None]


@pytest.mark.parametrize("is_in_greenlet", [False, True])
async def test_of_work_that_failed_nothing_is_kept(places: trio.CapacityLimiter, *, is_in_greenlet: bool) -> None:
    kept: list[weakref.ref[Thing]] = []

    async def fail() -> None:
        raise LookupError

    def work() -> None:
        seen = Thing()
        kept.append(weakref.ref(seen))
        if is_in_greenlet:
            wait_in_greenlet(fail, seconds_max=LONG_SECONDS)
        raise LookupError

    async def caller() -> None:
        with suppress(LookupError):
            await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)

    with no_garbage_looked_for():
        await caller()

        assert [thing() for thing in kept] == [None]


def test_work_comes_back_to_where_it_was_given_from_whoever_gave_work_before() -> None:
    async def give_work() -> str:
        def work() -> str:
            wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)
            return "done"

        return await run_in_greenlet(work, places=trio.CapacityLimiter(1), wait_seconds_max=LONG_SECONDS)

    # Event loops on stacks of their own, as where somebody else brings the greenlets.
    results = [greenlet(trio.run).switch(give_work) for _ in range(2)]

    assert results == ["done", "done"]
