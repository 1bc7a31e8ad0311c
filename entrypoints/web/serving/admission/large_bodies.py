"""Bodies above 64 KiB: they are read after their sender is verified, and decoded on threads.

`Route` refuses to be declared without a check of its callers, so a new one cannot be forgotten. Exceptions are what
has no credential but its content: messages of SAML, and the events of the payment provider.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final, ParamSpec, TypeVar

import trio

from core.errors import ServiceUnavailable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

DECODED_AT_ONCE_MAX: Final = 4
WAIT_SECONDS_MAX: Final = 10.0
RETRY_AFTER_SECONDS: Final = 5


class LargeBodies:
    """The places in which large bodies are decoded, one for each organization or network."""

    def __init__(self, places: int = DECODED_AT_ONCE_MAX) -> None:
        self._places = trio.CapacityLimiter(places)
        self._threads = trio.CapacityLimiter(places)
        # By the organization or network that has a place, or waits for one.
        self._senders: dict[str, trio.Lock] = {}

    async def run(
        self, sender: str, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run what decodes a body on a thread; raise `ServiceUnavailable` when no place becomes free in time."""
        async with self.place_of(sender):
            return await trio.to_thread.run_sync(lambda: work(*args, **kwargs), limiter=self._threads)

    @property
    def senders_number(self) -> int:
        """How many organizations and networks have a place, or wait for one."""
        return len(self._senders)

    @asynccontextmanager
    async def place_of(self, sender: str) -> AsyncGenerator[None]:
        """Hold a place of a sender."""
        lock = self._senders.setdefault(sender, trio.Lock())
        try:
            with trio.move_on_after(WAIT_SECONDS_MAX) as waiting:
                await lock.acquire()
                try:
                    await self._places.acquire_on_behalf_of(lock)
                except trio.Cancelled:
                    lock.release()
                    raise
            if waiting.cancelled_caught:
                raise ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS).because("large_bodies")
            try:
                yield
            finally:
                self._places.release_on_behalf_of(lock)
                lock.release()
        finally:
            statistics = lock.statistics()
            if not statistics.locked and not statistics.tasks_waiting:
                self._senders.pop(sender, None)
