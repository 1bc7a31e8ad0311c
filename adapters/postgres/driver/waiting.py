"""Waiting for PostgreSQL as the event loop waits for everything else.

The driver tells what its socket must be ready for, in the form of a generator, and leaves the waiting to others. It
brings a way for threads and one for asyncio; this is the one for Trio.
"""

from __future__ import annotations

import select
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import psycopg
import trio
from psycopg.waiting import Ready, Wait

from adapters.postgres.driver.greenlets import wait_in_greenlet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from psycopg.abc import PQGen

Answer = TypeVar("Answer")


def answer(work: PQGen[Answer], socket: int, *, seconds_max: float, spare_seconds: float) -> Answer:
    """Wait for what the driver waits for; who waits no longer makes it a `psycopg.OperationalError`."""
    until_readable = partial(trio.lowlevel.wait_readable, socket)
    try:
        wanted = next(work)
        while True:
            if wanted == Wait.R:
                wait_in_greenlet(until_readable, seconds_max=seconds_max, spare_seconds=spare_seconds)
                ready: int = Ready.R
            else:
                # What is to be written nearly always can be, and asking is cheaper than a turn of the event loop.
                while not (ready := ready_now(socket, wanted)):
                    wait_in_greenlet(
                        partial(_until_either, socket), seconds_max=seconds_max, spare_seconds=spare_seconds
                    )
            wanted = work.send(ready)
    except StopIteration as end:
        return end.value
    except trio.Cancelled:
        raise psycopg.OperationalError("There was no answer in time.") from None


def ready_now(socket: int, wanted: Wait) -> int:
    """Say what the socket is ready for, without waiting."""
    poll = select.poll()
    poll.register(socket, (select.POLLIN if wanted & Wait.R else 0) | (select.POLLOUT if wanted & Wait.W else 0))
    ready = 0
    for _, events in poll.poll(0):
        if events & ~select.POLLOUT:
            ready |= Ready.R
        if events & select.POLLOUT:
            ready |= Ready.W
    return ready


async def _until_either(socket: int) -> None:
    try:
        async with trio.open_nursery() as nursery:

            async def until(is_so: Callable[[int], Awaitable[None]]) -> None:
                await is_so(socket)
                nursery.cancel_scope.cancel()

            nursery.start_soon(until, trio.lowlevel.wait_readable)
            nursery.start_soon(until, trio.lowlevel.wait_writable)
    except* trio.Cancelled:
        # Each of them says so, in a group; whoever waits knows only the one below.
        pass
    await trio.lowlevel.checkpoint_if_cancelled()
