"""Sequences committed events: gives them their positions in the feed, and makes the deliveries to webhooks.

Every process has a sequencer; one at a time works on the events of an organization. A commit in this process wakes it;
the poller does so for events of other processes. Requests that wait for events are woken with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack
from uuid import UUID

import trio

from actors.batch_sizes import BatchSize
from actors.periods import PeriodicActor, PeriodicConnections
from core.webhooks import sequencing
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from ports.webhooks.deliveries import FeedWaiters


class MemoryFeedWaiters:
    """The port `FeedWaiters`."""

    def __init__(self) -> None:
        self._waiting = trio.lowlevel.ParkingLot()

    async def wait(self, seconds: float) -> None:
        """Return when events were added to the feed, or after these seconds."""
        with trio.move_on_after(seconds):
            await self._waiting.park()

    def wake(self) -> None:
        """Wake all requests that wait."""
        self._waiting.unpark_all()


# While another process sequences the events of an organization, events from here may have come too late for it.
BUSY_PAUSE_SECONDS: Final = 0.02
# Events that come shortly after a batch wait for the next one: a transaction for each event would take a tenth of the
# cost of a sign-in.
REST_SECONDS: Final = 0.1
# Events and their deliveries together.
BATCH_ROWS_MAX: Final = 400


class EventSequencer(PeriodicActor):
    """An actor; events without a position wait in the table, so it needs no draining."""

    job_type = "event_sequencing"
    period_seconds = 1.0
    rest_seconds = REST_SECONDS
    work_kind = WorkKind.EVENTS

    def __init__(self, *, waiters: FeedWaiters, **connections: Unpack[PeriodicConnections]) -> None:
        super().__init__(**connections)
        self._waiters = waiters
        self._batch = BatchSize(BATCH_ROWS_MAX)
        # The organization that had its turn last, when others wait.
        self._after: UUID | None = None

    async def work(self) -> None:
        while True:
            sequenced = await self._in_size(self._batch, sequencing.assign_positions, self._batch.rows, self._after)
            self._after = sequenced.continue_after
            if sequenced.events:
                self._waiters.wake()
            elif sequenced.has_more:
                await trio.sleep(BUSY_PAUSE_SECONDS)
            if not sequenced.has_more:
                return
