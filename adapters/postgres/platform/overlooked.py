"""What waits in the logs of all organizations, whether it is marked beside them or not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.platform.overlooked import Kind, LongWaiting, Turn


def _mails(state: LiteralString) -> LiteralString:
    return f"""
    (SELECT   '{state}_mails', organization_id, organization_id
     FROM     mails
     WHERE    state = '{state}' AND organization_id >= %({state}_mails)s AND due_at < %(before)s
     AND      (leased_until IS NULL OR leased_until < %(before)s)
     ORDER BY organization_id
     LIMIT    %(limit)s)
    """


# Each kind in the order of its index. One statement, because it is sent again and again, and finds nothing.
LONG_WAITING: Final = f"""
    (SELECT   'entries' AS kind, organization_id, organization_id AS turn_id
     FROM     audit_entries
     WHERE    position IS NULL AND organization_id >= %(entries)s AND id >= %(entries_id)s AND created_at < %(before)s
     ORDER BY organization_id
     LIMIT    %(limit)s)

    UNION ALL
    (SELECT   'events', organization_id, organization_id
     FROM     events
     WHERE    position = 0 AND organization_id >= %(events)s AND id >= %(kept_id)s
     AND      occurred_at > %(kept_since)s AND occurred_at < %(before)s
     ORDER BY organization_id
     LIMIT    %(limit)s)

    UNION ALL
    (SELECT   'deliveries', organization_id, webhook_id
     FROM     webhook_deliveries
     WHERE    next_retry_at < %(before)s AND webhook_id >= %(deliveries)s AND id >= %(kept_id)s
     ORDER BY webhook_id
     LIMIT    %(limit)s)

    UNION ALL {_mails("queued")}
    UNION ALL {_mails("routed")}
"""


class PostgresOverlookedWork(Aggregate):
    """The port `OverlookedWork`."""

    def long_waiting(
        self, turn: Turn, *, before: datetime, entries_since: datetime, kept_since: datetime, limit: int
    ) -> Sequence[LongWaiting]:
        ids = {"entries_id": first_id_since(entries_since), "kept_id": first_id_since(kept_since)}
        values = {**turn, **ids, "kept_since": kept_since, "before": before, "limit": limit}
        # Planned for the months in which something may wait.
        return self._all(_waiting, LONG_WAITING, values, prepare=False)


def _waiting(*, kind: str, organization_id: UUID, turn_id: UUID) -> LongWaiting:
    return LongWaiting(kind=Kind(kind), organization_id=organization_id, turn_id=turn_id)
