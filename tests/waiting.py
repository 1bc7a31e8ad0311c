"""Waiting in tests for what happens elsewhere: by polling, with a deadline, in real time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import trio

from adapters.postgres.driver.connection import Connection

POLL_SECONDS = 0.01
# Only a test that fails waits as long: a machine may be ten times slower than another.
WAIT_SECONDS_MAX = 60.0


def wait_until(is_met: Callable[[], bool], *, seconds_max: float = WAIT_SECONDS_MAX) -> None:
    """Return when the condition holds; fail after `seconds_max`."""
    deadline = time.monotonic() + seconds_max
    while not is_met():
        assert time.monotonic() < deadline, f"the condition did not hold within {seconds_max} s"
        time.sleep(POLL_SECONDS)


async def eventually(is_met: Callable[[], Awaitable[bool]], *, seconds_max: float = WAIT_SECONDS_MAX) -> None:
    """Return when the condition holds, letting other tasks run; fail after `seconds_max`."""
    deadline = time.monotonic() + seconds_max
    while not await is_met():
        assert time.monotonic() < deadline, f"the condition did not hold within {seconds_max} s"
        await trio.sleep(POLL_SECONDS)


async def waiting_for_a_lock(connection: Connection) -> None:
    """Return when a transaction waits for a lock."""

    async def is_waited_for() -> bool:
        return connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() != (0,)

    await eventually(is_waited_for)
