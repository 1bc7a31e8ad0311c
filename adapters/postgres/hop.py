"""The hop: how a use case, which is an ordinary function, waits for the database without keeping anybody else waiting.

It runs on the event loop, on a stack of its own (a greenlet). Whenever it must wait it steps aside: its stack is kept,
its task waits as any other, and then it goes on where it was. So no threads compete for the interpreter;
`ops/decisions/0008-a-use-case-steps-aside.md` has the figures.
"""

from __future__ import annotations

import contextvars
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import trio
from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Done:
    """What the work gave."""

    result: Any


@dataclass(frozen=True, slots=True)
class _Failed:
    """What the work raised."""

    error: BaseException


class _Stack(greenlet):
    """What use cases stand on, one after the other, and the end of the patience of the present one."""

    patience: trio.CancelScope


class _Stacks(threading.local):
    """The stacks of this thread that nobody stands on; a new one takes memory from the system and gives it back."""

    def __init__(self) -> None:
        self.free: list[_Stack] = []


_stacks = _Stacks()


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
    stack = _stacks.free.pop() if _stacks.free else _Stack(_work_on)
    stack.gr_context = contextvars.copy_context()
    with trio.CancelScope(shield=True) as stack.patience:
        said: Any = stack.switch(work)
        while True:
            match said:
                case _Done(result):
                    _stacks.free.append(stack)
                    return result
                case _Failed(error):
                    _stacks.free.append(stack)
                    raise error
                case wait:
                    said = await _waited(stack, wait)
    raise AssertionError("who waited too long was not told")


async def _waited(stack: _Stack, wait: Callable[[], Awaitable[object]]) -> object:
    """Wait for what a stack waits for, give it the answer, and give what it says next."""
    try:
        answer = await wait()
    except BaseException as error:  # noqa: BLE001 - it is raised again where it was waited for
        return stack.throw(error)
    return stack.switch(answer)


def _work_on(work: Callable[[], Any]) -> None:
    """Do one piece of work after the other, and say what became of each."""
    while True:
        try:
            became = _Done(work())
        except BaseException as error:  # noqa: BLE001 - it is raised again where the work is waited for
            became = _Failed(error)
        work = _parent().switch(became)


def _parent() -> greenlet:
    parent = getcurrent().parent
    assert parent is not None, "only the first stack of a thread has none to go back to"
    return parent


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
    now = trio.current_time()
    if not seconds_max <= stack.patience.deadline - now <= seconds_max + spare_seconds:
        stack.patience.deadline = now + seconds_max + spare_seconds
    answer: Result = _parent().switch(wait)
    return answer
