"""The way to a thread and back: what arrives there, what comes back, and who is waited for."""

from __future__ import annotations

import contextvars
import threading

import pytest
import trio

from adapters.postgres.hop import run_on_a_thread

LONG_SECONDS = 10.0
SHORT_SECONDS = 0.01

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO")


@pytest.fixture
def places() -> trio.CapacityLimiter:
    """One place."""
    return trio.CapacityLimiter(1)


async def test_the_result_comes_back_from_another_thread(places: trio.CapacityLimiter) -> None:
    there = await run_on_a_thread(threading.get_ident, places=places, wait_seconds_max=LONG_SECONDS)

    assert there != threading.get_ident()
    assert places.borrowed_tokens == 0


async def test_what_is_raised_there_is_raised_here(places: trio.CapacityLimiter) -> None:
    def refuse() -> None:
        raise LookupError("nobody here")

    with pytest.raises(LookupError, match="nobody here"):
        await run_on_a_thread(refuse, places=places, wait_seconds_max=LONG_SECONDS)

    assert places.borrowed_tokens == 0


async def test_context_variables_go_along_and_changes_stay_there(places: trio.CapacityLimiter) -> None:
    WHO.set("me")

    def change() -> str:
        before = WHO.get()
        WHO.set("another")
        return before

    assert await run_on_a_thread(change, places=places, wait_seconds_max=LONG_SECONDS) == "me"
    assert WHO.get() == "me"


async def test_without_a_free_place_in_time_nothing_is_run(places: trio.CapacityLimiter) -> None:
    places.acquire_on_behalf_of_nowait("somebody")
    run: list[str] = []

    with pytest.raises(trio.TooSlowError):
        await run_on_a_thread(lambda: run.append("it"), places=places, wait_seconds_max=SHORT_SECONDS)

    assert run == []
    assert places.borrowed_tokens == 1


async def test_there_is_work_in_every_place_at_the_same_time() -> None:
    places = trio.CapacityLimiter(2)
    both_there = threading.Barrier(2)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(lambda: run_on_a_thread(both_there.wait, places=places, wait_seconds_max=LONG_SECONDS))

    assert places.borrowed_tokens == 0


async def test_who_is_cancelled_does_not_even_begin(places: trio.CapacityLimiter) -> None:
    run: list[str] = []

    with trio.CancelScope() as scope:
        scope.cancel()
        await run_on_a_thread(lambda: run.append("it"), places=places, wait_seconds_max=LONG_SECONDS)

    assert run == []
    assert places.borrowed_tokens == 0


async def test_work_that_has_begun_is_waited_for_whoever_is_cancelled(places: trio.CapacityLimiter) -> None:
    token = trio.lowlevel.current_trio_token()
    door = threading.Event()
    results: list[bool] = []

    def work() -> bool:
        token.run_sync_soon(cancel_and_open)
        return door.wait(LONG_SECONDS)

    def cancel_and_open() -> None:
        scope.cancel()
        door.set()

    with trio.CancelScope() as scope:
        results.append(await run_on_a_thread(work, places=places, wait_seconds_max=LONG_SECONDS))

    assert results == [True]
    assert places.borrowed_tokens == 0
