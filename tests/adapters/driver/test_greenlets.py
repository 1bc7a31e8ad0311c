"""Running functions in greenlets: results, errors, waiting, places, cancellation, and references."""

from __future__ import annotations

import contextvars
import gc
import math
import threading
import weakref
from collections.abc import Generator
from contextlib import contextmanager, suppress

import pytest
import trio
from greenlet import greenlet

from adapters.postgres.driver.greenlets import is_in_greenlet, run_in_greenlet, wait_in_greenlet
from tests.meeting import Meeting, wait_for

LONG_SECONDS = 10.0
SHORT_SECONDS = 0.01

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME")
VALUE: contextvars.ContextVar[Value] = contextvars.ContextVar("VALUE")


class Value:
    """A value that may be large or secret."""


@contextmanager
def without_garbage_collection() -> Generator[None]:
    """Turn the cyclic garbage collection off, so that only unreferenced objects are freed."""
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


async def test_an_error_of_the_function_is_raised_in_the_task(places: trio.CapacityLimiter) -> None:
    def refuse() -> None:
        raise LookupError("not found")

    with pytest.raises(LookupError, match="not found"):
        await run_in_greenlet(refuse, places=places, wait_seconds_max=LONG_SECONDS)

    assert places.borrowed_tokens == 0


async def test_the_function_has_a_copy_of_the_context_variables(places: trio.CapacityLimiter) -> None:
    NAME.set("outer")

    def change() -> str:
        before = NAME.get()
        NAME.set("inner")
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)
        return f"{before}, {NAME.get()}"

    assert await run_in_greenlet(change, places=places, wait_seconds_max=LONG_SECONDS) == "outer, inner"
    assert NAME.get() == "outer"


async def test_only_a_function_in_a_greenlet_can_wait_in_it(places: trio.CapacityLimiter) -> None:
    assert await run_in_greenlet(is_in_greenlet, places=places, wait_seconds_max=LONG_SECONDS)
    assert not is_in_greenlet()
    with pytest.raises(AssertionError, match="can wait in it"):
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)


async def test_a_wait_returns_the_result_or_raises_the_error(places: trio.CapacityLimiter) -> None:
    async def fail() -> None:
        raise LookupError("not found")

    def work() -> tuple[int, str]:
        thread = wait_in_greenlet(lambda: trio.to_thread.run_sync(threading.get_ident), seconds_max=LONG_SECONDS)
        with pytest.raises(LookupError) as failed:
            wait_in_greenlet(fail, seconds_max=LONG_SECONDS)
        return thread, str(failed.value)

    thread, failure = await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)

    assert thread != threading.get_ident()
    assert failure == "not found"


async def test_a_wait_is_cancelled_at_its_deadline_and_the_function_continues(places: trio.CapacityLimiter) -> None:
    def work() -> str:
        with pytest.raises(trio.Cancelled):
            wait_in_greenlet(trio.sleep_forever, seconds_max=SHORT_SECONDS)
        return "continued"

    assert await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS) == "continued"


async def test_each_wait_has_its_own_deadline(places: trio.CapacityLimiter) -> None:
    def work() -> None:
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)
        wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS, spare_seconds=LONG_SECONDS)
        with pytest.raises(trio.Cancelled):
            wait_in_greenlet(trio.sleep_forever, seconds_max=SHORT_SECONDS, spare_seconds=SHORT_SECONDS)

    await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)


async def test_without_a_free_place_in_time_the_function_does_not_run(places: trio.CapacityLimiter) -> None:
    places.acquire_on_behalf_of_nowait("another task")
    run: list[str] = []

    with pytest.raises(trio.TooSlowError):
        await run_in_greenlet(lambda: run.append("it"), places=places, wait_seconds_max=SHORT_SECONDS)

    assert run == []
    assert places.borrowed_tokens == 1


async def test_as_many_functions_run_at_the_same_time_as_there_are_places() -> None:
    places = trio.CapacityLimiter(2)
    both_run = Meeting(2)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(lambda: run_in_greenlet(both_run.wait, places=places, wait_seconds_max=LONG_SECONDS))

    assert places.borrowed_tokens == 0


async def test_the_function_of_a_cancelled_task_does_not_run(places: trio.CapacityLimiter) -> None:
    run: list[str] = []

    with trio.CancelScope() as scope:
        scope.cancel()
        await run_in_greenlet(lambda: run.append("it"), places=places, wait_seconds_max=LONG_SECONDS)

    assert run == []
    assert places.borrowed_tokens == 0


async def test_a_function_that_has_begun_is_finished_when_its_task_is_cancelled(places: trio.CapacityLimiter) -> None:
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


async def test_no_value_of_a_function_that_has_returned_is_kept(places: trio.CapacityLimiter) -> None:
    values: list[weakref.ref[Value]] = []

    async def caller() -> None:
        argument, in_context = Value(), Value()
        VALUE.set(in_context)

        def work(argument: Value = argument) -> Value:
            result = Value()
            values.extend(map(weakref.ref, (argument, VALUE.get(), result)))
            return result

        await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)

    with without_garbage_collection():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(caller)

        assert [value() for value in values] == [None, None, None]


@pytest.mark.parametrize("is_in_greenlet", [False, True])
async def test_no_value_of_a_function_that_has_failed_is_kept(
    places: trio.CapacityLimiter, *, is_in_greenlet: bool
) -> None:
    values: list[weakref.ref[Value]] = []

    async def fail() -> None:
        raise LookupError

    def work() -> None:
        local = Value()
        values.append(weakref.ref(local))
        if is_in_greenlet:
            wait_in_greenlet(fail, seconds_max=LONG_SECONDS)
        raise LookupError

    async def caller() -> None:
        with suppress(LookupError):
            await run_in_greenlet(work, places=places, wait_seconds_max=LONG_SECONDS)

    with without_garbage_collection():
        await caller()

        assert [value() for value in values] == [None]


def test_a_result_returns_to_the_greenlet_of_its_event_loop() -> None:
    async def run_work() -> str:
        def work() -> str:
            wait_in_greenlet(trio.lowlevel.checkpoint, seconds_max=LONG_SECONDS)
            return "done"

        return await run_in_greenlet(work, places=trio.CapacityLimiter(1), wait_seconds_max=LONG_SECONDS)

    # Event loops on stacks of their own, as when another library uses greenlets.
    results = [greenlet(trio.run).switch(run_work) for _ in range(2)]

    assert results == ["done", "done"]
