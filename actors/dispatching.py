"""What all senders do: lease targets that have something due, send to many at once, record each outcome.

A target is what is leased: a webhook, a service, a mail server, a stream, a mail. It has one place, whatever waits for
it, so one that is slow, dead or flooded delays no other one. One that takes long moves to a place for slow targets, so
that very many of them delay no quick one either. Sending happens outside of transactions. A crash leaves a lease that
ends, and what was sent and not recorded is sent again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Generic, NotRequired, TypedDict, TypeVar, Unpack
from uuid import UUID

import structlog
import trio

from actors.mailboxes import Mailbox
from actors.precedence import RequestsFirst
from core.errors import ServiceUnavailable
from core.lazy_dataclasses import dataclass
from ports.mailboxes import Changed, Due, Figure, Mailboxes, WorkKind
from ports.metrics import Metrics

if TYPE_CHECKING:
    from ports.database import Database
    from ports.precedence import Precedence
    from ports.unit_of_work import UnitOfWork

Target = TypeVar("Target")
Item = TypeVar("Item")
Result = TypeVar("Result")

# To one receiver at once, and the most that waits while the lease of a target runs.
DELIVERIES_AT_ONCE_MAX: Final = 8
# Only a few in one transaction; a flood must not delay what becomes due a moment later.
LEASED_AT_ONCE_MAX: Final = 8
# A target that takes longer is slow.
QUICK_SECONDS: Final = 0.25
# One that takes longer hangs: it gets one item at a time until it answers sooner, because each item has a connection.
ANSWER_SECONDS_MAX: Final = 10.0
# The most targets that are remembered as slow, and as answering.
REMEMBERED_TARGETS_MAX: Final = 10_000
# Transactions at once, because thousands of attempts may end at the same moment, and requests need connections.
RECORDS_AT_ONCE_MAX: Final = 8
# For retries, and for what another replica queued.
PERIOD_SECONDS: Final = 1.0
# What was sent but not recorded is sent again, so a dispatcher waits for a database that is briefly away.
RECORD_SECONDS_MAX: Final = 20.0
RECORD_PAUSE_SECONDS: Final = 1.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The load of a dispatcher: targets at once, slow ones besides, and items of each in a lease."""

    targets_max: int
    slow_targets_max: int = 0
    items_max: int = 1


class Connections(TypedDict):
    """What every dispatcher is connected to."""

    database: Database
    mailboxes: Mailboxes
    metrics: Metrics
    precedence: NotRequired[Precedence]


class Places:
    """The places of a dispatcher; a target that is served has one of them."""

    def __init__(self, capacity: Capacity) -> None:
        self.quick = trio.Semaphore(capacity.targets_max)
        self.slow = trio.Semaphore(capacity.slow_targets_max)


class Dispatcher(ABC, Generic[Target]):
    """An actor that drains: it finishes the attempts in flight and leases no more."""

    # The name of what it sends, in the metrics and in the log.
    job_type: str
    # What the names of the events below begin with.
    subject: str = "dispatcher"
    # What others tell it of.
    work_kind: WorkKind
    period_seconds: float = PERIOD_SECONDS
    # After leasing less than it had room for, messages wait so long: what comes in that time is leased at once.
    rest_seconds: float = 0.0
    capacity: Capacity

    def __init__(self, **connections: Unpack[Connections]) -> None:
        self._database = connections["database"]
        self._mailboxes = connections["mailboxes"]
        self._metrics = connections["metrics"]
        self._precedence = connections.get("precedence") or RequestsFirst()
        self._recording = trio.CapacityLimiter(RECORDS_AT_ONCE_MAX)
        # The targets that took long when they were served last; they take no place from others at first.
        self._slow_targets: set[UUID] = set()
        # Targets that have answered lately.
        self._answering_targets: set[UUID] = set()
        self._is_database_away = False
        self._has_backlog = False
        self.box = Mailbox(self.work_kind, drains=True)

    @abstractmethod
    def lease(self, uow: UnitOfWork, free: Capacity) -> Sequence[Target]:
        """Lease targets that have something due, as many as there is capacity for."""

    @abstractmethod
    def identity(self, target: Target) -> UUID:
        """Return what tells a target from others."""

    @abstractmethod
    async def serve(self, target: Target) -> bool:
        """Send what was leased, and record each outcome; return whether more may be due to the target at once."""

    async def run(self) -> None:
        """Send what is due until `Drain` comes; then finish the attempts in flight, and lease no more."""
        places = Places(self.capacity)
        async with trio.open_nursery() as nursery:
            while True:
                await self._precedence.turn(self.job_type)
                self.box.take()
                if self.box.is_draining:
                    break
                # No more targets than places, so that no leased one waits.
                free = replace(self.capacity, targets_max=min(places.quick.value, LEASED_AT_ONCE_MAX))
                leased = await self._lease(free)
                for target in leased:
                    places.quick.acquire_nowait()
                    nursery.start_soon(self._serve_in_place, target, places)
                self._tell_of_backlog(has_backlog=len(leased) == free.targets_max)
                if len(leased) < free.targets_max:
                    await self.box.receive(self.period_seconds, rest_seconds=self.rest_seconds)
                else:
                    # Wait for a free place. It stays free, because only this loop takes places.
                    async with places.quick:
                        pass

    def _tell_of_backlog(self, *, has_backlog: bool) -> None:
        """Tell the actor that measures the backlog that more is due than is leased at once, or no longer."""
        if has_backlog != self._has_backlog:
            self._has_backlog = has_backlog
            self._mailboxes.send(WorkKind.FIGURES, Changed(Figure.BACKLOG))

    async def _lease(self, free: Capacity) -> Sequence[Target]:
        try:
            leased = await self._database.transact(self.lease, free)
        except ServiceUnavailable:
            if not self._is_database_away:
                log.warning(f"{self.subject}.database_away", job=self.job_type, retry_seconds=self.period_seconds)
            self._is_database_away = True
            return ()
        self._is_database_away = False
        return leased

    async def _serve_each(
        self,
        target: Target,
        items: Sequence[Item],
        send: Callable[[Item], Awaitable[None]],
        release: Callable[[UnitOfWork], object],
    ) -> bool:
        """Send a target's items, then end its lease; return that more may be due: what was queued meanwhile.

        A target that answers gets all at once, another one the first alone: until it has answered, the others stay due.
        """
        identity = self.identity(target)
        if identity not in self._answering_targets:
            items = items[:1]
        began_at = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number, item in enumerate(items):
                # The first items of all targets come before the further ones of any.
                work = f"{self.job_type}.further" if number else self.job_type
                nursery.start_soon(self._send_after_requests, work, send, item)
        if trio.current_time() - began_at <= ANSWER_SECONDS_MAX:
            _remember(self._answering_targets, identity)
        else:
            self._answering_targets.discard(identity)
        await self._recorded(release)
        return True

    async def _send_after_requests(self, work: str, send: Callable[[Item], Awaitable[None]], item: Item) -> None:
        await self._precedence.turn(work)
        await send(item)

    async def _serve_in_place(self, target: Target, places: Places) -> None:
        identity = self.identity(target)
        has_moved = trio.Event()
        began_at = trio.current_time()
        try:
            async with trio.open_nursery() as nursery:
                if self.capacity.slow_targets_max:
                    nursery.start_soon(self._move_when_slow, identity, places, has_moved)
                has_more = await self.serve(target)
                nursery.cancel_scope.cancel()
        finally:
            (places.slow if has_moved.is_set() else places.quick).release()
        if trio.current_time() - began_at <= QUICK_SECONDS:
            self._slow_targets.discard(identity)
        if has_more:
            self.box.send(Due())

    async def _move_when_slow(self, identity: UUID, places: Places, has_moved: trio.Event) -> None:
        """Exchange the place of a target for one of the slow ones: at once if it was slow the last time."""
        if identity not in self._slow_targets:
            await trio.sleep(QUICK_SECONDS)
            _remember(self._slow_targets, identity)
        await places.slow.acquire()
        places.quick.release()
        has_moved.set()

    @contextmanager
    def _measured(self) -> Generator[None]:
        """Measure an attempt together with its record, unless it is interrupted."""
        began_at = trio.current_time()
        yield
        self._metrics.job_finished(self.job_type, trio.current_time() - began_at)

    async def _recorded(self, record: Callable[[UnitOfWork], Result], **described: object) -> Result | None:
        """Record an outcome; return None when the database was away for too long. The log describes what was sent."""
        # Shielded, because what was sent and not recorded would be sent again after the shutdown.
        with trio.move_on_after(RECORD_SECONDS_MAX, shield=True):
            while True:
                try:
                    async with self._recording:
                        return await self._database.transact(record)
                except ServiceUnavailable as away:
                    log.warning(f"{self.subject}.record_postponed", job=self.job_type, **described, reason=away.message)
                await trio.sleep(RECORD_PAUSE_SECONDS)
        log.error(f"{self.subject}.not_recorded", job=self.job_type, **described)
        return None


def _remember(targets: set[UUID], identity: UUID) -> None:
    if len(targets) >= REMEMBERED_TARGETS_MAX:
        targets.clear()
    targets.add(identity)
