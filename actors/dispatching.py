"""What the dispatchers do: lease targets that have something due, send to many at once, record each outcome.

A target has one place, whatever waits for it, so one that is slow, dead or flooded delays no other one. A crash leaves
a lease that ends, and what was sent and not recorded is sent again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import structlog
import trio

from core.errors import ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.attempts import Attempt
    from ports.clock import Clock
    from ports.database import Database
    from ports.doorbells import AwaitableDoorbells, Bell
    from ports.metrics import Metrics
    from ports.unit_of_work import UnitOfWork

Target = TypeVar("Target")
Item = TypeVar("Item")

# To one receiver at once, and the most that waits while the lease of a target runs.
DELIVERIES_AT_ONCE_MAX: Final = 8
# For retries, and for what another replica queued.
PERIOD_SECONDS: Final = 1.0
# What was sent but not recorded is sent again, so a dispatcher waits for a database that is briefly away.
RECORD_SECONDS_MAX: Final = 20.0
RECORD_PAUSE_SECONDS: Final = 1.0

log = structlog.get_logger(__name__)


class Dispatcher(ABC, Generic[Target, Item]):
    """An actor that drains: it finishes the attempts in flight and leases no more."""

    # The name of what it sends, in the metrics.
    job_type: str
    # Its own, because a ring wakes one actor alone.
    bell: Bell
    targets_at_once_max: int

    def __init__(self, *, database: Database, doorbells: AwaitableDoorbells, metrics: Metrics, clock: Clock) -> None:
        self._database = database
        self._doorbells = doorbells
        self._metrics = metrics
        self._clock = clock
        self._is_draining = False
        self._is_database_away = False

    @abstractmethod
    def lease(self, uow: UnitOfWork, targets_max: int, items_max: int) -> Sequence[Target]:
        """Lease targets that have something due."""

    @abstractmethod
    def items_of(self, target: Target) -> Sequence[Item]:
        """Return what to send to a leased target."""

    @abstractmethod
    async def send(self, target: Target, item: Item) -> Attempt:
        """Make an attempt."""

    @abstractmethod
    def record(self, uow: UnitOfWork, target: Target, item: Item, attempt: Attempt) -> object:
        """Record what an attempt got."""

    @abstractmethod
    def release(self, uow: UnitOfWork, target: Target) -> None:
        """End the lease of a target."""

    @abstractmethod
    def report(self, target: Target, item: Item, attempt: Attempt) -> None:
        """Log an attempt, and count it."""

    async def run(self) -> None:
        """Send what is due until told to drain."""
        places = trio.Semaphore(self.targets_at_once_max)
        async with trio.open_nursery() as nursery:
            while not self._is_draining:
                # No more targets than places, so that no leased one waits.
                free = places.value
                leased = await self._lease(free)
                for target in leased:
                    places.acquire_nowait()
                    nursery.start_soon(self._serve, target, places)
                if len(leased) < free:
                    await self._doorbells.wait(self.bell, PERIOD_SECONDS)
                else:
                    # Wait for a free place. It stays free, because only this loop takes places.
                    async with places:
                        pass

    def drain(self) -> None:
        """Finish the attempts in flight, lease no more, and return from `run`."""
        self._is_draining = True
        # It may be waiting, and would notice only after its period.
        self._doorbells.ring(self.bell)

    async def _lease(self, targets_max: int) -> Sequence[Target]:
        try:
            leased = await self._database.transact(self.lease, targets_max, DELIVERIES_AT_ONCE_MAX)
        except ServiceUnavailable:
            if not self._is_database_away:
                log.warning("dispatcher.database_away", job=self.job_type, retry_seconds=PERIOD_SECONDS)
            self._is_database_away = True
            return ()
        self._is_database_away = False
        return leased

    async def _serve(self, target: Target, place: trio.Semaphore) -> None:
        try:
            async with trio.open_nursery() as nursery:
                for item in self.items_of(target):
                    nursery.start_soon(self._deliver, target, item)
            await self._recorded(partial(self.release, target=target))
        finally:
            place.release()
            # What was due beyond these items is due again.
            self._doorbells.ring(self.bell)

    async def _deliver(self, target: Target, item: Item) -> None:
        began_at = trio.current_time()
        attempt = await self.send(target, item)
        await self._recorded(partial(self.record, target=target, item=item, attempt=attempt))
        self.report(target, item, attempt)
        self._metrics.job_finished(self.job_type, trio.current_time() - began_at)

    async def _recorded(self, record: Callable[[UnitOfWork], object]) -> None:
        # Shielded, because what was sent and not recorded would be sent again after the shutdown.
        with trio.move_on_after(RECORD_SECONDS_MAX, shield=True):
            while True:
                try:
                    await self._database.transact(record)
                except ServiceUnavailable as away:
                    log.warning("dispatcher.record_postponed", job=self.job_type, reason=away.message)
                    await trio.sleep(RECORD_PAUSE_SECONDS)
                else:
                    return
        log.error("dispatcher.not_recorded", job=self.job_type)
