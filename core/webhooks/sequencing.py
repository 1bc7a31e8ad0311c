"""Handing events on: each committed event gets its position in the feed, and a delivery to each webhook that wants it.

The positions of an organization are given by one transaction at a time, so a reader who has seen one never misses a
lower one, and the events of an organization keep their order. Organizations take turns in a transaction, and several
transactions hand on the events of different ones at the same time. A batch is bounded by the rows that it writes,
because an event of an organization with fifty webhooks is fifty deliveries. Events that were stored before there were
positions get theirs beside the new ones, so that they delay none.

Each transaction that writes events marks their organizations, so that only those are looked at. The mark of one that
has no waiting event any more is removed; what has lost its mark nevertheless is found by `mark_overlooked`.
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
    """An event without a position, and to how many webhooks it may have to be delivered.

    Events of no organization have the id of zeros. `is_old` events are from before there were positions.
    `last_position` is the last one that was given to an event of the organization.
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
        """How many rows a transaction writes that hands this event on."""
        return max(1, self.webhooks)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEvents:
    """The first waiting events of some organizations, those of each in their order; `has_more` if there are others.

    `busy` organizations were left out, because other transactions hand their events on. `complete` ones were looked at,
    and have no other event that waits. `seen_until` is the last one that was looked at.
    """

    events: Sequence[WaitingEvent]
    has_more: bool
    busy: int = 0
    complete: Sequence[UUID] = ()
    seen_until: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOn:
    """How many events were handed on; if others wait, `continue_after` is the last organization that had its turn."""

    events: int
    has_more: bool
    continue_after: UUID | None


def hand_on(uow: UnitOfWork, rows_max: int, after: UUID | None = None) -> HandedOn:
    """Hand on events that are about `rows_max` rows, of the organizations after that one first.

    No events, but more of them, means that other transactions are doing it at this moment. Events that are older than
    the feed keeps them need no position.
    """
    kept_since = uow.now - RETENTION
    waiting = uow.event_sequencing.waiting(rows_max, after=after, kept_since=kept_since)
    batch = batch_of(waiting.events, rows_max)
    if batch:
        uow.event_sequencing.hand_on(batch)
    left = {event.organization_id for event in waiting.events} if len(batch) < len(waiting.events) else set[UUID]()
    if done := [organization_id for organization_id in waiting.complete if organization_id not in left]:
        # Last: while a mark is removed, other transactions of the organization wait.
        uow.event_sequencing.unmark(done, kept_since=kept_since)

    has_more = waiting.has_more or waiting.busy > 0 or bool(left)
    # The first events of the organizations are the first in a batch, in the order of the organizations.
    last = list(dict.fromkeys(event.organization_id for event in batch))[-1] if batch else waiting.seen_until
    return HandedOn(events=len(batch), has_more=has_more, continue_after=last if has_more else None)


def batch_of(waiting: Sequence[WaitingEvent], rows_max: int) -> Sequence[WaitingEvent]:
    """Return the events to hand on: at most that many rows, or a single event, divided evenly among the organizations.

    The events of each organization are the first ones that wait, in their order.
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
