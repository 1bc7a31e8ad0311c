"""The way to a thread and back, as short as Trio allows.

`trio.to_thread.run_sync` does the same and more: it names the thread before and after each job, and whoever calls into
the system for that lets other threads take the interpreter; and it prepares for calls back into the event loop. Nothing
here needs either, and both together are a good part of what a small read costs.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, TypeVar

import trio

if TYPE_CHECKING:
    from collections.abc import Callable

    from outcome import Outcome

Result = TypeVar("Result")


async def run_on_a_thread(
    work: Callable[[], Result], *, places: trio.CapacityLimiter, wait_seconds_max: float
) -> Result:
    """Run on a thread, with the caller's context variables; raise `trio.TooSlowError` when no place is free in time.

    Waiting for a place can be cancelled. Work that has begun is waited for, whoever is cancelled meanwhile, and its
    result given.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        places.acquire_nowait()
    except trio.WouldBlock:
        with trio.fail_after(max(0.0, wait_seconds_max)):
            await places.acquire()

    task, token = trio.lowlevel.current_task(), trio.lowlevel.current_trio_token()
    context = contextvars.copy_context()
    arrived: list[Outcome[Result]] = []

    def come_back(result: Outcome[Result]) -> None:
        arrived.append(result)
        places.release_on_behalf_of(task)
        trio.lowlevel.reschedule(task)

    trio.lowlevel.start_thread_soon(lambda: context.run(work), lambda result: token.run_sync_soon(come_back, result))
    await trio.lowlevel.wait_task_rescheduled(lambda _raise_cancel: trio.lowlevel.Abort.FAILED)
    # Taken out, so that an error does not hold itself by way of this frame.
    return arrived.pop().unwrap()
