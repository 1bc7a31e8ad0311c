"""A barrier at which use cases wait for each other in the middle of their transactions."""

from __future__ import annotations

import math

import trio

from adapters.postgres.driver.greenlets import wait_in_greenlet


class Meeting:
    """A barrier that opens when `size` use cases have reached it."""

    def __init__(self, size: int) -> None:
        self._missing = size
        self._is_complete = trio.Event()

    def wait(self) -> None:
        """Wait until `size` use cases have arrived; any later one passes without waiting."""
        self._missing -= 1
        if not self._missing:
            self._is_complete.set()
        wait_for(self._is_complete)


def wait_for(event: trio.Event) -> None:
    """Block a use case until the test sets the event."""
    wait_in_greenlet(event.wait, seconds_max=math.inf)
