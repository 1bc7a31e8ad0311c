"""Finds overlooked rows, which wait in a log although no mark beside the log says so, and restores the marks.

Entries, events and mails of an organization wait while its mark is missing, and deliveries are due while their webhook
is not. This happens when a transaction that sets a mark is rolled back while another one relies on the mark, when a
process of an older version wrote the row, and on a cluster, where a row may become visible a moment after its
transaction has ended elsewhere. The search reads the logs themselves, a part of the waiting rows each time, in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.audit import chain
from core.ids import FIRST_ID
from core.lazy_dataclasses import dataclass
from core.webhooks import events

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# So many rows of each kind in one turn.
ROWS_MAX: Final = 1_000
# A row that has waited for less time is on its way.
OVERLOOKED_AFTER: Final = timedelta(seconds=5)


class Kind(StrEnum):
    """The kind of a waiting row."""

    ENTRIES = "entries"
    EVENTS = "events"
    DELIVERIES = "deliveries"
    QUEUED_MAILS = "queued_mails"
    ROUTED_MAILS = "routed_mails"


@dataclass(frozen=True, slots=True, kw_only=True)
class LongWaiting:
    """A waiting row: its organization, and the id that orders the turns, of the webhook or the organization."""

    kind: Kind
    organization_id: UUID
    turn_id: UUID


# The ids at which the next search begins.
Turn = Mapping[Kind, UUID]
FIRST_TURN: Final[Turn] = dict.fromkeys(Kind, FIRST_ID)


def find(uow: UnitOfWork, turn: Turn) -> Sequence[LongWaiting]:
    """Return due rows that wait, in turn, overlooked or not, in one statement."""
    return uow.overlooked_work.long_waiting(
        turn,
        before=uow.now - OVERLOOKED_AFTER,
        entries_since=uow.now - chain.SEALED_WITHIN,
        kept_since=uow.now - events.RETENTION,
        limit=ROWS_MAX,
    )


def next_turn(found: Sequence[LongWaiting]) -> Turn:
    """Return where to go on; a kind without more rows begins anew."""
    ids = {kind: [one.turn_id for one in found if one.kind is kind] for kind in Kind}
    return FIRST_TURN | {kind: UUID(int=max(seen).int + 1) for kind, seen in ids.items() if len(seen) == ROWS_MAX}


def put_right(uow: UnitOfWork, found: Sequence[LongWaiting]) -> int:
    """Mark organizations without a mark, and make overlooked webhooks due; return how many."""
    places = {
        kind: dict.fromkeys((one.organization_id, one.turn_id) for one in found if one.kind is kind) for kind in Kind
    }
    return (
        uow.audit_chains.mark_overlooked(_organizations(places[Kind.ENTRIES]))
        + uow.event_sequencing.mark_overlooked(_organizations(places[Kind.EVENTS]))
        + uow.webhook_deliveries.make_overlooked_due(list(places[Kind.DELIVERIES]))
        + uow.mail.mark_overlooked(_organizations(places[Kind.QUEUED_MAILS] | places[Kind.ROUTED_MAILS]))
    )


def _organizations(places: Iterable[tuple[UUID, UUID]]) -> Sequence[UUID]:
    return [organization_id for organization_id, _ in places]
