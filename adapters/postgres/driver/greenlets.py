"""Running a use case, which is a synchronous function, on the event loop without blocking it.

The function runs in a greenlet: a stack of its own in the same thread. Where it has to wait, it switches back to its
task, which awaits in Trio as any other task does and then switches to the greenlet again. So no threads compete for the
interpreter; `ops/decisions/0008-use-cases-run-in-greenlets.md` has the figures.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import trio
from greenlet import getcurrent, greenlet

Result = TypeVar("Result")


class Limiter(Protocol):
    """What gives a place and takes it back, such as a limiter of Trio."""

    def acquire_nowait(self) -> None:
        """Take a place; raise `trio.WouldBlock` when none is free."""
        ...

    async def acquire(self) -> None:
        """Take a place, and wait for it first."""
        ...

    def release(self) -> None:
        """Give the place back."""
        ...


class _Greenlet(greenlet):
    """A stack that runs one function after the other, with the deadline of the present one.

    It outlives the functions, so their arguments and results, which may be large or secret, are removed from it.
    """

    deadline_scope: trio.CancelScope
    work: Callable[[], Any] | None = None
    result: Any = None
    failure: BaseException | None = None


class _IdleGreenlets(threading.local):
    """The greenlets of this thread that run nothing; making one allocates memory from the system."""

    def __init__(self) -> None:
        self.stack: list[_Greenlet] = []


_idle = _IdleGreenlets()


async def run_in_greenlet(work: Callable[[], Result], *, places: Limiter, wait_seconds_max: float) -> Result:
    """Run a function that waits by `wait_in_greenlet`, and return its result.

    Waiting for a place can be cancelled; raise `trio.TooSlowError` when none is free in time. A function that has begun
    runs to its end even if the task is cancelled meanwhile, and its result is returned.
    """
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        places.acquire_nowait()
    except trio.WouldBlock:
        with trio.fail_after(max(0.0, wait_seconds_max)):
            await places.acquire()
    try:
        running = _idle.stack.pop() if _idle.stack else _Greenlet(_run_forever)
        running.parent = getcurrent()
        running.gr_context = contextvars.copy_context()
        running.work = work
        with trio.CancelScope(shield=True) as running.deadline_scope:
            wait: Any = running.switch()
            while wait is not None:
                wait = await _wait_for(running, wait)
            return _release(running)
        raise AssertionError("the deadline of a greenlet ended the scope around it")
    finally:
        places.release()


async def _wait_for(running: _Greenlet, wait: Callable[[], Awaitable[object]]) -> object:
    """Await what the greenlet waits for and resume it; return what it waits for next, or None when it has ended."""
    try:
        answer = await wait()
    except BaseException as error:  # noqa: BLE001 - it is raised again inside the greenlet
        return running.throw(error)
    return running.switch(answer)


def _release(ended: _Greenlet) -> Any:
    """Return or raise the outcome of the function, and let another function use the greenlet."""
    result, failure = ended.result, ended.failure
    ended.result = ended.failure = ended.gr_context = None
    _idle.stack.append(ended)
    try:
        if failure is not None:
            raise failure
        return result
    finally:
        # The exception refers to this frame, so a reference back would keep both until the next garbage collection.
        del failure


def _run_forever() -> None:
    while True:
        _run_once()
        # No local variable may refer to the function here, because the greenlet may stay idle for long.
        _parent().switch(None)


def _run_once() -> None:
    running = getcurrent()
    assert isinstance(running, _Greenlet), "the current greenlet was not made by `run_in_greenlet`"
    work, running.work = running.work, None
    assert work is not None, "the greenlet was resumed without a function to run"
    try:
        running.result = work()
    except BaseException as error:  # noqa: BLE001 - `run_in_greenlet` raises it in the task
        running.failure = error


def _parent() -> greenlet:
    parent = getcurrent().parent
    assert parent is not None, "the current greenlet is the main one of its thread"
    return parent


def is_in_greenlet() -> bool:
    """Return whether the caller runs inside `run_in_greenlet`."""
    return isinstance(getcurrent(), _Greenlet)


def wait_in_greenlet(
    wait: Callable[[], Awaitable[Result]], *, seconds_max: float, spare_seconds: float = 0.0
) -> Result:
    """Await something from inside `run_in_greenlet`.

    `trio.Cancelled` is raised after `seconds_max`, or up to `spare_seconds` later: moving a deadline costs more than
    comparing it, so it is moved only when it is out of that range.
    """
    running = getcurrent()
    assert isinstance(running, _Greenlet), "only a function inside `run_in_greenlet` can wait in it"
    scope = running.deadline_scope
    now = trio.current_time()
    if not seconds_max <= scope.deadline - now <= seconds_max + spare_seconds:
        scope.deadline = now + seconds_max + spare_seconds
    answer: Result = _parent().switch(wait)
    return answer
