"""A dispatcher of parcels and its queues, for the tests of what all dispatchers share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from uuid import NAMESPACE_DNS, UUID, uuid5

import trio

from actors.dispatching import Capacity, Dispatcher
from actors.precedence import RequestsFirst
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from ports.database import Database
from ports.mailboxes import WorkKind
from tests.mailboxes import RecordedMailboxes

LEASE_SECONDS = 60.0
PLACES = 3
ITEMS = 4


class Crash(Exception):
    """An unexpected error."""


@dataclass(frozen=True)
class Leased:
    """A receiver, and what to send to it."""

    receiver: str
    items: Sequence[str]


class Queues:
    """A fake database of what is due to receivers, which may be away for some calls of a use case, or for good."""

    def __init__(self, **due: int) -> None:
        self.due = {receiver: [f"{receiver} {number}" for number in range(items)] for receiver, items in due.items()}
        self.leased_until: dict[str, float] = dict.fromkeys(due, -math.inf)
        self.outages: dict[str, float] = {}
        self.crashes_after: str | None = None
        self.leases_at: list[float] = []

    async def transact(self, use_case: Any, *args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        name: str = getattr(use_case, "func", use_case).__name__
        if self.outages.get(name, 0) > 0:
            self.outages[name] -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        result = use_case(self, *args)
        if name == self.crashes_after:
            self.crashes_after = None
            raise Crash
        return result

    def lease(self, free: Capacity) -> list[Leased]:
        """Lease receivers, those first whose last lease ended first."""
        now = trio.current_time()
        self.leases_at.append(now)
        waiting = [receiver for receiver, items in self.due.items() if items and self.leased_until[receiver] <= now]
        leased = sorted(waiting, key=lambda receiver: self.leased_until[receiver])[: free.targets_max]
        for receiver in leased:
            self.leased_until[receiver] = now + LEASE_SECONDS
        return [Leased(receiver, self.due[receiver][: free.items_max]) for receiver in leased]

    def record(self, receiver: str, item: str) -> None:
        self.due[receiver].remove(item)

    def release(self, receiver: str) -> None:
        self.leased_until[receiver] = trio.current_time()

    @property
    def is_leased(self) -> list[str]:
        """The receivers whose leases run."""
        return [receiver for receiver, until in self.leased_until.items() if until > trio.current_time()]


class Sender(Dispatcher[Leased]):
    """A dispatcher whose receivers take everything at once, or after some seconds."""

    job_type = "parcel"
    subject = "parcel"
    work_kind = WorkKind.DELIVERIES
    capacity = Capacity(targets_max=PLACES, items_max=ITEMS)

    def __init__(
        self,
        queues: Queues,
        mailboxes: RecordedMailboxes,
        seconds: Mapping[str, float] | None = None,
        *,
        has_more: bool = True,
        precedence: RequestsFirst | None = None,
    ) -> None:
        self.metrics = PrometheusMetrics(version="test")
        super().__init__(
            database=cast("Database", cast("Any", queues)),
            mailboxes=mailboxes,
            metrics=self.metrics,
            precedence=precedence or RequestsFirst(),
        )
        self.sent: list[str] = []
        self.crashes_at: str | None = None
        self._has_more = has_more
        self._seconds = seconds or {}

    def lease(self, uow: Any, free: Capacity) -> Sequence[Leased]:
        return uow.lease(free)

    def identity(self, target: Leased) -> UUID:
        return uuid5(NAMESPACE_DNS, target.receiver)

    async def serve(self, target: Leased) -> bool:
        release: Any = partial(Queues.release, receiver=target.receiver)
        await self._serve_each(target, target.items, partial(self._deliver, target.receiver), release)
        return self._has_more

    async def _deliver(self, receiver: str, item: str) -> None:
        with self._measured():
            await trio.sleep(self._seconds.get(receiver, 0))
            if item == self.crashes_at:
                raise Crash
            self.sent.append(item)
            await self._recorded(cast("Any", partial(Queues.record, receiver=receiver, item=item)), item=item)

    @property
    def measured(self) -> int:
        """The number of attempts that were measured."""
        name = 'sso_job_processing_duration_seconds_count{job_type="parcel"} '
        lines = self.metrics.exposition().decode().splitlines()
        return sum(int(float(line.removeprefix(name))) for line in lines if line.startswith(name))
