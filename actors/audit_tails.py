"""Readers who wait for new entries of audit logs, and the actor that wakes them.

The readers of a process are the ports `AuditTails` and `FollowedLogs` in memory. Every process watches for its own
readers, by one statement for all followed logs, and does nothing while there are none. The first reader to wait and the
sealer of this process wake it; entries that another process has sealed it finds within a second.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

import trio

from actors.periods import PeriodicActor, PeriodicConnections
from core.audit import browser
from core.audit.browser import PLACES_MAX, RETRY_SECONDS, TailsTaken
from ports.mailboxes import Due, Mailboxes, WorkKind

if TYPE_CHECKING:
    from ports.audit.siem import FollowedLogs


@dataclass(eq=False, slots=True)
class _Reader:
    seen: int
    told: trio.Event = field(default_factory=trio.Event)


class MemoryAuditTails:
    """The readers of this process; one who waits costs nothing until the log has something new."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        self._mailboxes = mailboxes
        self._places: Counter[UUID] = Counter()
        self._readers: dict[UUID, set[_Reader]] = {}

    @contextmanager
    def place(self, log: UUID) -> Generator[None]:
        """Take one of the places of a log; raise `TailsTaken` when none is free."""
        if self._places[log] >= PLACES_MAX:
            raise TailsTaken(retry_after_seconds=RETRY_SECONDS)
        self._places[log] += 1
        try:
            yield
        finally:
            self._places[log] -= 1
            if not self._places[log]:
                del self._places[log]

    async def wait(self, log: UUID, seen: int, seconds: float) -> None:
        """Return when the log has another position, and after that time at the latest."""
        if not self._readers:
            self._mailboxes.send(WorkKind.AUDIT_TAILS, Due())
        reader = _Reader(seen)
        self._readers.setdefault(log, set()).add(reader)
        try:
            with trio.move_on_after(seconds):
                await reader.told.wait()
        finally:
            readers = self._readers[log]
            readers.remove(reader)
            if not readers:
                del self._readers[log]

    def followed(self) -> Collection[UUID]:
        """Return the logs that readers wait for."""
        return tuple(self._readers)

    def tell(self, positions: Mapping[UUID, int]) -> None:
        """Wake the readers who have seen another position of their log than the present one."""
        for log, readers in self._readers.items():
            for reader in readers:
                if log in positions and reader.seen != positions[log]:
                    reader.told.set()


PERIOD_SECONDS: Final = 1.0


class AuditTailWatcher(PeriodicActor):
    """An actor; a reader that is not told looks again by itself."""

    job_type = "audit_tails"
    work_kind = WorkKind.AUDIT_TAILS

    def __init__(self, *, logs: FollowedLogs, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._logs = logs

    async def work(self) -> None:
        followed = self._logs.followed()
        self.period_seconds = PERIOD_SECONDS if followed else math.inf
        if not followed:
            return
        positions = await self._after_requests(browser.positions, followed)
        # Of logs that were not followed when their positions were read, nothing is known.
        self._logs.tell({log: positions.get(log, 0) for log in followed})
