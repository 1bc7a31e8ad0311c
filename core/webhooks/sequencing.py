"""Handing events on: each committed event gets its position in the feed, and a delivery to each subscribed webhook.

One transaction at a time gives the positions of an organization, so a reader who has seen one never misses a lower one,
and the events of an organization keep their order. Organizations take turns in a transaction, and several transactions
hand on the events of different ones at the same time. A batch is bounded by the rows that it writes, because an event
of an organization with fifty webhooks is fifty deliveries. Events from before there were positions get theirs beside
the new ones, so that they delay none.

Each transaction that writes events marks their organizations, and only these are looked at. The mark of an organization
without waiting events is removed; `mark_overlooked` finds events whose organization has lost its mark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.webhooks.events import RETENTION

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEvent:
    """An event without a position, and the number of webhooks that may get it.

    Events of no organization have the id of zeros. `is_old` events are from before there were positions.
    `last_position` is the last position of the organization.
    """

    id: UUID
    organization_id: UUID
    type: str
    occurred_at: datetime
    is_old: bool
    webhooks: int
    last_position: int

    @property
    def rows(self) -> int:
        """How many rows handing this event on writes."""
        return max(1, self.webhooks)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEvents:
    """The first waiting events of some organizations, each organization's in order; `has_more` if there are others.

    `busy` organizations were left out, because other transactions assign their positions. `complete` ones have no other
    waiting event. `seen_until` is the last organization that was looked at.
    """

    events: Sequence[WaitingEvent]
    has_more: bool
    busy: int = 0
    complete: Sequence[UUID] = ()
    seen_until: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequencedBatch:
    """How many events got positions; if others wait, `continue_after` is the last organization that had its turn."""

    events: int
    has_more: bool
    continue_after: UUID | None


def assign_positions(uow: UnitOfWork, rows_max: int, after: UUID | None = None) -> SequencedBatch:
    """Assign positions to events of about `rows_max` rows, beginning with the organizations after `after`.

    No events, but `has_more`, means that other transactions are assigning them at this moment. Events that are older
    than the feed's retention need no position.
    """
    kept_since = uow.now - RETENTION
    waiting = uow.event_sequencing.waiting(rows_max, after=after, kept_since=kept_since)
    batch = batch_of(waiting.events, rows_max)
    if batch:
        uow.event_sequencing.assign_positions(batch)
    left = {event.organization_id for event in waiting.events} if len(batch) < len(waiting.events) else set[UUID]()
    if done := [organization_id for organization_id in waiting.complete if organization_id not in left]:
        # Last, because other transactions of the organization wait while a mark is removed.
        uow.event_sequencing.unmark(done, kept_since=kept_since)

    has_more = waiting.has_more or waiting.busy > 0 or bool(left)
    # A batch begins with the first event of each organization, in the order of the organizations.
    last = list(dict.fromkeys(event.organization_id for event in batch))[-1] if batch else waiting.seen_until
    return SequencedBatch(events=len(batch), has_more=has_more, continue_after=last if has_more else None)


def batch_of(waiting: Sequence[WaitingEvent], rows_max: int) -> Sequence[WaitingEvent]:
    """Return the events that get positions: `rows_max` rows at most, or one event, divided evenly among organizations.

    Each organization has its first waiting events, in order.
    """
    rows_before: dict[tuple[UUID, bool], int] = defaultdict(int)
    turns: list[tuple[int, WaitingEvent]] = []
    for event in waiting:
        queue = event.organization_id, event.is_old
        turns.append((rows_before[queue], event))
        rows_before[queue] += event.rows

    batch: list[WaitingEvent] = []
    rows = 0
    for _, event in sorted(turns, key=itemgetter(0)):
        rows += event.rows
        if batch and rows > rows_max:
            break
        batch.append(event)
    return batch
