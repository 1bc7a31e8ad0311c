"""Waiting events whose mark is missing, and due deliveries whose webhook is not due: they are found and put right.

It happens where a transaction that was setting a mark is rolled back while another one relied on it, where a process of
an older version wrote the event, and on a cluster, where a row may become visible a moment after its transaction has
ended elsewhere. The logs themselves are asked, a part of what waits each time, in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.ids import FIRST_ID
from core.lazy_dataclasses import dataclass
from core.webhooks.events import RETENTION

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Of each kind in one turn.
ROWS_MAX: Final = 1_000
# What waits for less long is on its way.
OVERLOOKED_AFTER: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Of which organization the events, and of which webhook the deliveries, were looked at last."""

    organization_id: UUID = FIRST_ID
    webhook_id: UUID = FIRST_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class LongWaiting:
    """Organizations whose events wait since a while, and webhooks (with their organizations) whose deliveries do."""

    organization_ids: Sequence[UUID]
    webhooks: Sequence[tuple[UUID, UUID]]
    next_turn: Turn


def find(uow: UnitOfWork, turn: Turn) -> LongWaiting:
    """Return what waits and is due behind the last turn, whether it is overlooked or not."""
    before = uow.now - OVERLOOKED_AFTER
    organizations = uow.event_sequencing.defer_long_waiting(
        after=turn.organization_id, before=before, kept_since=uow.now - RETENTION, limit=ROWS_MAX
    )
    webhooks = uow.webhook_deliveries.defer_long_due(after=turn.webhook_id, before=before, limit=ROWS_MAX)
    waiting, due = organizations(), webhooks()
    return LongWaiting(
        organization_ids=list(dict.fromkeys(waiting)),
        webhooks=list(dict.fromkeys(due)),
        next_turn=Turn(
            organization_id=waiting[-1] if len(waiting) == ROWS_MAX else FIRST_ID,
            webhook_id=due[-1][1] if len(due) == ROWS_MAX else FIRST_ID,
        ),
    )


def put_right(uow: UnitOfWork, found: LongWaiting) -> int:
    """Mark the organizations that are not marked, and make the webhooks due that are not; return how many."""
    marked = uow.event_sequencing.mark_overlooked(found.organization_ids)
    return marked + uow.webhook_deliveries.make_overlooked_due(found.webhooks)
