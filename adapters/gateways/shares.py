"""Shares of what organizations use together: each has its own number of places, whatever the others wait for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager

import trio


class Shares:
    """Places by key, such as an organization; nothing is kept of a key without taken or awaited places."""

    def __init__(self, places_max: int) -> None:
        self._places_max = places_max
        self._places: dict[Hashable, trio.Semaphore] = {}

    @property
    def keys_count(self) -> int:
        """The number of keys with taken or awaited places."""
        return len(self._places)

    @asynccontextmanager
    async def place(self, key: Hashable) -> AsyncGenerator[None]:
        """Take a place of a key while the block lasts, and wait for one first if none is free."""
        places = self._places.setdefault(key, trio.Semaphore(self._places_max))
        try:
            async with places:
                yield
        finally:
            is_unused = places.value == self._places_max and not places.statistics().tasks_waiting
            if is_unused and self._places.get(key) is places:
                del self._places[key]
