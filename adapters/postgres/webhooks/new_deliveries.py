"""New deliveries in the table `webhook_deliveries`; each makes its webhook due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from adapters.postgres.transaction import Transaction
from ports.doorbells import Bell

MAKE: Final = """
    WITH made AS (
        INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at,
                                        next_retry_at, created_at, updated_at)
        SELECT wanted.id, webhooks.organization_id, webhooks.id, event.id, event.type, event.occurred_at,
               %(now)s, %(now)s, %(now)s
        FROM   unnest(%(ids)s::uuid[], %(organization_ids)s::uuid[], %(event_ids)s::uuid[], %(webhook_ids)s::uuid[])
               AS wanted (id, organization_id, event_id, webhook_id)
        JOIN   webhooks ON webhooks.organization_id = wanted.organization_id AND webhooks.id = wanted.webhook_id
        JOIN   events event ON event.organization_id = wanted.organization_id AND event.id = wanted.event_id
        -- For the planner: only the partitions of these ids.
        AND    event.id >= %(first_id)s AND event.id <= %(last_id)s
        FOR    KEY SHARE OF webhooks
        RETURNING organization_id, webhook_id
    )
    UPDATE webhook_queues
    SET    due_at = least(due_at, %(now)s)
    WHERE  (organization_id, webhook_id) IN (SELECT organization_id, webhook_id FROM made)
"""


class NewDelivery(NamedTuple):
    """The ids of a delivery that is to be made: of itself, its organization, its event and its webhook."""

    id: UUID
    organization_id: UUID
    event_id: UUID
    webhook_id: UUID


def make_deliveries(transaction: Transaction, made: Sequence[NewDelivery]) -> int:
    """Store deliveries that are due now; return to how many webhooks. One that is deleted meanwhile gets none."""
    if not made:
        return 0
    transaction.bells.add(Bell.DELIVERIES)
    event_ids = [one.event_id for one in made]
    return transaction.connection.execute(
        MAKE,
        {
            "now": transaction.now,
            "ids": [one.id for one in made],
            "organization_ids": [one.organization_id for one in made],
            "event_ids": event_ids,
            "webhook_ids": [one.webhook_id for one in made],
            "first_id": min(event_ids),
            "last_id": max(event_ids),
        },
    ).rowcount
