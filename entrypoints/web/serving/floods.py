"""Notices that a flood has ended, of connections or of bytes, so that its memory can be given back to the system."""

from __future__ import annotations

import trio


class Flood:
    """What rises and falls: a flood is at least so much, and over when a quarter of it is left."""

    def __init__(self, *, least: int) -> None:
        self._least = least
        self._peak = 0
        self._is_over = trio.Event()

    def note(self, number: int) -> None:
        """Note how much there is now."""
        if number > self._peak:
            self._peak = number
        elif self._peak >= self._least and number <= self._peak // 4:
            self._peak = number
            self._is_over.set()

    async def is_over(self) -> None:
        """Wait for the end of the next flood."""
        await self._is_over.wait()
        self._is_over = trio.Event()
