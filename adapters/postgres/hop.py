"""The hop: how a use case, which is an ordinary function, waits for the database without keeping anybody else waiting.

It runs on the event loop, on a stack of its own (a greenlet). Whenever it must wait it steps aside: its stack is kept,
its task waits as any other, and then it goes on where it was. So no threads compete for the interpreter;
`ops/decisions/0008-a-use-case-steps-aside.md` has the figures.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any, TypeVar

import trio
from greenlet import getcurrent, greenlet
from outcome import acapture

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from outcome import Outcome

Result = TypeVar("Result")


class _Stack(greenlet):
    """What a use case stands on, and the end of its patience."""

    patience: trio.CancelScope


async def run_aside(work: Callable[[], Result], *, places: trio.CapacityLimiter, wait_seconds_max: float) -> Result:
    """Run what can step aside; raise `trio.TooSlowError` when no place is free in time.

    Waiting for a place can be cancelled. Work that has begun is finished, whoever is cancelled meanwhile, and its
    result is given.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        places.acquire_nowait()
    except trio.WouldBlock:
        with trio.fail_after(max(0.0, wait_seconds_max)):
            await places.acquire()
    try:
        return await _run(work)
    finally:
        places.release()


async def _run(work: Callable[[], Result]) -> Result:
    stack = _Stack(work)
    stack.gr_context = contextvars.copy_context()
    with trio.CancelScope(shield=True) as stack.patience:
        said: Any = stack.switch()
        while not stack.dead:
            said = stack.switch(await acapture(said))
        return said
    raise AssertionError("who waited too long was not told")


def is_aside() -> bool:
    """Say whether we are where one can step aside."""
    return isinstance(getcurrent(), _Stack)


def step_aside(wait: Callable[[], Awaitable[Result]], *, seconds_max: float, spare_seconds: float = 0.0) -> Result:
    """Wait for something asynchronous, in the middle of what `run_aside` runs.

    It sees `trio.Cancelled` after that many seconds, and may see it the spare ones later: moving a deadline costs more
    than a glance at it.
    """
    stack = getcurrent()
    assert isinstance(stack, _Stack), "only what `run_aside` runs can step aside"
    assert stack.parent is not None, "only the first stack of a thread has none to go back to"
    now = trio.current_time()
    if not seconds_max <= stack.patience.deadline - now <= seconds_max + spare_seconds:
        stack.patience.deadline = now + seconds_max + spare_seconds
    answer: Outcome[Result] = stack.parent.switch(wait)
    return answer.unwrap()
