"""What ends the sessions for a customer of a service once that customer is no longer open to their user.

Access itself ends with the row that changes, which every request reads (`customer_contexts.py`). For one person the
sessions end in the same transaction, so that services learn of it at once by a logout token. A change that may concern
many is a row of the table `customer_rechecks`, which triggers write beside the change, and is worked off in batches.

A sign-in that began before the change may be committed after it: its session opens nothing while the change lasts,
but would again afterwards. So the sessions that began around the change are checked once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.events.events import EventType
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# What a batch reads and, at most, ends.
BATCH_SESSIONS_MAX: Final = 200
# More than a request takes, also when the change was made this much later, and less than the minute within which
# sessions end.
LOOKS_AGAIN_AFTER: Final = timedelta(seconds=40)
LOOKS_TOGETHER_WITHIN: Final = timedelta(seconds=5)
_REASON: Final = "customer_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedSession:
    """A session that has ended because its context is no longer open to its user.

    `organization_id` is the vendor's, and `customer_id` its customer's, None for the session of an individual.
    """

    user_id: UUID
    email: str
    organization_id: UUID
    service_id: UUID
    customer_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckedBatch:
    """The sessions of a batch that have ended, and whether there are more to read."""

    closed: list[ClosedSession]
    is_full: bool


def end_lost(uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID]) -> None:
    """End sessions for an organization as customer, at services that are no longer open to these members of it.

    Their role or their groups have changed.
    """
    if user_ids:
        _record(uow, uow.customer_sessions.end_lost(organization_id, user_ids))


def recheck(uow: UnitOfWork, sessions_max: int) -> int:
    """Work off a part of what waits to be checked; return how many rows were taken, 0 when nothing waits."""
    batch = uow.customer_sessions.recheck(sessions_max)
    if batch is None:
        return 0
    _record(uow, batch.closed)
    return 1


def _record(uow: UnitOfWork, closed: Iterable[ClosedSession]) -> None:
    """Tell the vendors how many sessions of each user have ended."""
    happenings: dict[UUID, list[tuple[UUID, str, Mapping[str, Any]]]] = {}
    for one, sessions in Counter(closed).items():
        of_customer = {"customer_id": str(one.customer_id)} if one.customer_id is not None else {}
        data = {"sessions": sessions, "service_id": str(one.service_id), "reason": _REASON, **of_customer}
        happenings.setdefault(one.organization_id, []).append((one.user_id, one.email, data))
    for organization_id, of_organization in happenings.items():
        uow.publish_of_users(EventType.SESSION_REVOKED, organization_id, of_organization)
