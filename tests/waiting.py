"""Waiting in tests for what happens elsewhere: by asking again, under a deadline, in real time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.postgres.driver.connection import Connection

POLL_SECONDS = 0.01
WAIT_SECONDS_MAX = 10.0
# What other tests, which run at the same moment, may add to a time that is measured.
BUSY_MACHINE_SECONDS_MAX = 0.5


def wait_until(is_so: Callable[[], bool], *, seconds_max: float = WAIT_SECONDS_MAX) -> None:
    """Return when it is so; fail when it is not in time."""
    deadline = time.monotonic() + seconds_max
    while not is_so():
        assert time.monotonic() < deadline, f"not so within {seconds_max} s"
        time.sleep(POLL_SECONDS)


async def eventually(is_so: Callable[[], Awaitable[bool]], *, seconds_max: float = WAIT_SECONDS_MAX) -> None:
    """Return when it is so, letting other tasks run; fail when it is not in time."""
    deadline = time.monotonic() + seconds_max
    while not await is_so():
        assert time.monotonic() < deadline, f"not so within {seconds_max} s"
        await trio.sleep(POLL_SECONDS)


async def waiting_for_a_lock(connection: Connection) -> None:
    """Return when a transaction waits for another one to end."""

    async def is_waited_for() -> bool:
        return connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() != (0,)

    await eventually(is_waited_for)
