"""The hop: how a use case, which is an ordinary function, waits for the database without keeping anybody else waiting.

It runs on the event loop, on a stack of its own (a greenlet). Whenever it must wait it steps aside: its stack is kept,
its task waits as any other, and then it goes on where it was. So no threads compete for the interpreter;
`ops/decisions/0008-use-cases-run-in-greenlets.md` has the figures.
"""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, Any, TypeVar

import trio
from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Result = TypeVar("Result")


class _Stack(greenlet):
    """What use cases stand on, one after the other, and the end of the patience of the present one.

    A stack lives on, so what it was given and what became of it are taken from it: they may be large, or secret.
    """

    deadline_scope: trio.CancelScope
    work: Callable[[], Any] | None = None
    result: Any = None
    failure: BaseException | None = None


class _Stacks(threading.local):
    """The stacks of this thread that nobody stands on; a new one takes memory from the system and gives it back."""

    def __init__(self) -> None:
        self.free: list[_Stack] = []


_stacks = _Stacks()


async def run_in_greenlet(
    work: Callable[[], Result], *, places: trio.CapacityLimiter, wait_seconds_max: float
) -> Result:
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
    stack.parent = getcurrent()
    stack.gr_context = contextvars.copy_context()
    stack.work = work
    with trio.CancelScope(shield=True) as stack.deadline_scope:
        wait: Any = stack.switch()
        while wait is not None:
            wait = await _waited(stack, wait)
        return _left(stack)
    raise AssertionError("who waited too long was not told")


async def _waited(stack: _Stack, wait: Callable[[], Awaitable[object]]) -> object:
    """Wait for what a stack waits for, give it the answer, and give what it waits for next, if anything."""
    try:
        answer = await wait()
    except BaseException as error:  # noqa: BLE001 - it is raised again where it was waited for
        return stack.throw(error)
    return stack.switch(answer)


def _left(stack: _Stack) -> Any:
    """Take what became of the work, and let others have the stack."""
    result, failure = stack.result, stack.failure
    stack.result = stack.failure = stack.gr_context = None
    _stacks.free.append(stack)
    try:
        if failure is not None:
            raise failure
        return result
    finally:
        # It knows this frame, which would keep it and all that it has seen until somebody looks for garbage.
        del failure


def _work_on() -> None:
    """Do one piece of work after the other."""
    while True:
        _work()
        # Nothing of it may be left here, as long as nobody comes.
        _parent().switch(None)


def _work() -> None:
    stack = getcurrent()
    assert isinstance(stack, _Stack), "work is done on a stack of ours"
    work, stack.work = stack.work, None
    assert work is not None, "nobody comes without work"
    try:
        stack.result = work()
    except BaseException as error:  # noqa: BLE001 - it is raised again where the work is waited for
        stack.failure = error


def _parent() -> greenlet:
    parent = getcurrent().parent
    assert parent is not None, "only the first stack of a thread has none to go back to"
    return parent


def is_in_greenlet() -> bool:
    """Say whether we are where one can step aside."""
    return isinstance(getcurrent(), _Stack)


def wait_in_greenlet(
    wait: Callable[[], Awaitable[Result]], *, seconds_max: float, spare_seconds: float = 0.0
) -> Result:
    """Wait for something asynchronous, in the middle of what `run_in_greenlet` runs.

    It sees `trio.Cancelled` after that many seconds, and may see it the spare ones later: moving a deadline costs more
    than a glance at it.
    """
    stack = getcurrent()
    assert isinstance(stack, _Stack), "only what `run_in_greenlet` runs can step aside"
    now = trio.current_time()
    if not seconds_max <= stack.deadline_scope.deadline - now <= seconds_max + spare_seconds:
        stack.deadline_scope.deadline = now + seconds_max + spare_seconds
    answer: Result = _parent().switch(wait)
    return answer
