"""Waiting for PostgreSQL's socket in Trio.

The driver yields what its socket must be ready for and leaves the waiting to its caller. It brings a way of waiting for
threads and one for asyncio; this is the one for Trio.
"""

from __future__ import annotations

import math
import select
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import psycopg
import trio
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

from adapters.postgres.driver.greenlets import wait_in_greenlet

Answer = TypeVar("Answer")


def answer(work: PQGen[Answer], socket: int, *, seconds_max: float, spare_seconds: float | None) -> Answer:
    """Run one of the driver's generators to its result; raise `psycopg.OperationalError` at the deadline.

    After that the greenlet can no longer wait for anything, unless `spare_seconds` is None.
    """
    wait = (
        partial(_wait_alone, until=trio.current_time() + seconds_max)
        if spare_seconds is None
        else partial(wait_in_greenlet, seconds_max=seconds_max, spare_seconds=spare_seconds)
    )
    until_readable = partial(trio.lowlevel.wait_readable, socket)
    try:
        wanted = next(work)
        while True:
            if wanted == Wait.R:
                wait(until_readable)
                ready: int = Ready.R
            else:
                # A socket can nearly always be written to, and checking is cheaper than a step of the event loop.
                while not (ready := ready_now(socket, wanted)):
                    until_either = partial(_until_readable_or_writable, socket)
                    wait(until_either)
            wanted = work.send(ready)
    except StopIteration as end:
        return end.value
    except (trio.Cancelled, trio.TooSlowError):
        raise psycopg.OperationalError("There was no answer in time.") from None


def _wait_alone(wait: Callable[[], Awaitable[object]], *, until: float) -> None:
    """Await something in a scope of its own, so that only this wait ends at that time."""

    async def wait_until() -> None:
        with trio.fail_at(until):
            await wait()

    wait_in_greenlet(wait_until, seconds_max=math.inf)


def ready_now(socket: int, wanted: Wait) -> int:
    """Return what the socket is ready for, without waiting."""
    poll = select.poll()
    poll.register(socket, (select.POLLIN if wanted & Wait.R else 0) | (select.POLLOUT if wanted & Wait.W else 0))
    ready = 0
    for _, events in poll.poll(0):
        if events & ~select.POLLOUT:
            ready |= Ready.R
        if events & select.POLLOUT:
            ready |= Ready.W
    return ready


async def _until_readable_or_writable(socket: int) -> None:
    try:
        async with trio.open_nursery() as nursery:

            async def until(is_ready: Callable[[int], Awaitable[None]]) -> None:
                await is_ready(socket)
                nursery.cancel_scope.cancel()

            nursery.start_soon(until, trio.lowlevel.wait_readable)
            nursery.start_soon(until, trio.lowlevel.wait_writable)
    except* trio.Cancelled:
        # The two tasks raise it in a group, but the caller handles `trio.Cancelled` alone, raised below.
        pass
    await trio.lowlevel.checkpoint_if_cancelled()
