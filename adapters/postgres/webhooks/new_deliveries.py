"""New deliveries in the table `webhook_deliveries`; each makes its webhook due, which its maker has locked before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from adapters.postgres.driver.columns import array_of, array_of_times
from adapters.postgres.transaction import Transaction
from ports.mailboxes import WorkKind

MAKE: Final = """
    INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, next_retry_at,
                                    created_at, updated_at)
    SELECT id, organization_id, webhook_id, event_id, event_type, occurred_at, %(now)s, %(now)s, %(now)s
    FROM   unnest(%(ids)s::uuid[], %(organization_ids)s::uuid[], %(webhook_ids)s::uuid[], %(event_ids)s::uuid[],
                  %(types)s::text[], %(times)s::timestamptz[])
           AS wanted (id, organization_id, webhook_id, event_id, event_type, occurred_at)
"""
MAKE_DUE: Final = """
    UPDATE webhook_queues
    SET    due_at = least(due_at, %(now)s)
    WHERE  (organization_id, webhook_id) IN (
        SELECT * FROM unnest(%(organization_ids)s::uuid[], %(webhook_ids)s::uuid[]))
"""


class NewDelivery(NamedTuple):
    """A delivery that is to be made: of an event that occurred at that time, to a webhook."""

    id: UUID
    organization_id: UUID
    webhook_id: UUID
    event_id: UUID
    event_type: str
    occurred_at: datetime


def make_deliveries(transaction: Transaction, made: Sequence[NewDelivery]) -> None:
    """Store deliveries that are due now, to webhooks that this transaction has locked."""
    values = {
        "now": transaction.now,
        "ids": array_of(one.id for one in made),
        "organization_ids": array_of(one.organization_id for one in made),
        "webhook_ids": array_of(one.webhook_id for one in made),
        "event_ids": array_of(one.event_id for one in made),
        "types": [one.event_type for one in made],
        "times": array_of_times(one.occurred_at for one in made),
    }
    # On a cluster, what inserts the rows of a query makes the transaction commit on all nodes or on none, also without
    # rows. Otherwise a crash could leave positions of events in the log alone, and give them a second time.
    transaction.connection.execute_later(MAKE, values)
    if not made:
        return
    transaction.made_due.add(WorkKind.DELIVERIES)
    webhooks = {(one.organization_id, one.webhook_id) for one in made}
    transaction.connection.execute_later(
        MAKE_DUE,
        {
            "now": transaction.now,
            "organization_ids": array_of(organization_id for organization_id, _ in webhooks),
            "webhook_ids": array_of(webhook_id for _, webhook_id in webhooks),
        },
    )
