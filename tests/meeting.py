"""Where use cases wait for each other in the middle of their transactions."""

from __future__ import annotations

import math

import trio

from adapters.postgres.driver.greenlets import wait_in_greenlet


class Meeting:
    """Lets nobody go before so many have come."""

    def __init__(self, size: int) -> None:
        self._missing = size
        self._all_there = trio.Event()

    def wait(self) -> None:
        """Come, and wait for the others; the one-too-many finds the door open."""
        self._missing -= 1
        if not self._missing:
            self._all_there.set()
        wait_for(self._all_there)


def wait_for(event: trio.Event) -> None:
    """Wait in a use case for what a test does meanwhile."""
    wait_in_greenlet(event.wait, seconds_max=math.inf)
