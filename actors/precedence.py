"""The port `Precedence`: each unit of background work waits for a moment without requests, but never for long.

A unit is an attempt, a lease or a batch: some milliseconds of the event loop. A process that always has requests to
serve still begins one unit of each kind of work every `WAIT_SECONDS_MAX`, so that no work stands still.

The dispatchers and `_after_requests` take the turns; a new loop of an actor begins each unit with one
(ops/decisions/0031-background-work-yields.md).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

import trio

WAIT_SECONDS_MAX: Final = 0.02
# A request that takes longer waits for events, for another system or for its client, and not for this process.
REQUEST_SECONDS_MAX: Final = 1.0


class RequestsFirst:
    """The requests of a process, and the turns of its background work."""

    def __init__(self) -> None:
        # When each request began, the newest at the end.
        self._began_at: dict[object, float] = {}
        self._turns: dict[str, trio.Lock] = {}
        self._waiting = trio.lowlevel.ParkingLot()

    def request(self) -> AbstractContextManager[None]:
        """Count a request as long as the context is open."""
        return _Counted(self._began_at, self._request_ended)

    async def turn(self, work: str) -> None:
        """Return when no request is being served, and after `WAIT_SECONDS_MAX` at the latest."""
        async with self._turns.setdefault(work, trio.Lock()):
            if self._has_requests():
                with trio.move_on_after(WAIT_SECONDS_MAX):
                    await self._waiting.park()

    def _request_ended(self) -> None:
        if self._waiting and not self._has_requests():
            self._waiting.unpark_all()

    def _has_requests(self) -> bool:
        newest = next(reversed(self._began_at.values()), None)
        return newest is not None and trio.current_time() - newest <= REQUEST_SECONDS_MAX


class _Counted:
    """A request that is counted; a class, because a generator takes three times as long."""

    __slots__ = ("_began_at", "_ended")

    def __init__(self, began_at: dict[object, float], ended: Callable[[], None]) -> None:
        self._began_at = began_at
        self._ended = ended

    def __enter__(self) -> None:
        self._began_at[self] = trio.current_time()

    def __exit__(self, *_failure: object) -> None:
        del self._began_at[self]
        self._ended()
