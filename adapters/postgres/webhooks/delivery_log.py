"""The deliveries of a webhook for its console, in `webhook_deliveries` and `webhook_attempts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns
from adapters.postgres.log_times import IN_TIMES, values_of
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.deliveries import NAME
from adapters.postgres.webhooks.events import delivery_payload
from core.attempts import ATTEMPTS_MAX
from core.ids import first_id_after, first_id_since
from core.positions import Position
from core.webhooks.deliveries import Delivery
from core.webhooks.delivery_log import DeliveryAttempt, DeliverySearch, ListedDelivery
from core.webhooks.events import RETENTION

# Planned with its values each time, so that what is not asked for costs nothing and each state has its index.
FOUND: Final = f"""
    FROM   webhook_deliveries
    WHERE  organization_id = %(organization_id)s AND webhook_id = %(webhook_id)s AND id >= %(first_id)s
    AND    (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
    AND    id < %(before_id)s AND {IN_TIMES}
    AND    (%(state)s::text IS NULL
            OR (%(state)s = 'delivered' AND delivered)
            OR (%(state)s = 'waiting' AND NOT delivered AND next_retry_at IS NOT NULL)
            OR (%(state)s = 'failed' AND NOT delivered AND next_retry_at IS NULL))
"""
PAGE: Final = f"""
    SELECT   {columns(ListedDelivery)}
    {FOUND}
    AND      (%(after_at)s::timestamptz IS NULL
              OR (created_at, id) < (%(after_at)s::timestamptz, %(after_id)s::uuid))
    ORDER BY created_at DESC, id DESC
    LIMIT    %(limit)s
"""
COUNT: Final = f"SELECT count(*) FROM (SELECT 1 {FOUND} LIMIT %(limit)s) AS counted"


class PostgresWebhookDeliveryLog(Aggregate):
    """The port `WebhookDeliveryLog`."""

    def page(
        self, organization_id: UUID, webhook_id: UUID, wanted: DeliverySearch, *, after: Position | None, limit: int
    ) -> Sequence[ListedDelivery]:
        values = self._values_of(organization_id, webhook_id, wanted, limit) | {
            "after_at": after.at if after is not None else None,
            "after_id": after.id if after is not None else None,
        }
        return self._all(ListedDelivery, PAGE, values, prepare=False)

    def count(self, organization_id: UUID, webhook_id: UUID, wanted: DeliverySearch, *, counted_max: int) -> int:
        [count] = self._values(COUNT, self._values_of(organization_id, webhook_id, wanted, counted_max), prepare=False)
        return count

    def find(self, organization_id: UUID, webhook_id: UUID, delivery_id: UUID) -> Delivery | None:
        name = self._defer_value_or_none(NAME, (organization_id, webhook_id))
        found = self._row(
            f"""
            SELECT d.id, d.webhook_id, d.event_type, {delivery_payload("d.event_type")} AS payload,
                   d.response_status_code, d.response_body, d.attempt_count, %(attempts_max)s::integer AS max_attempts,
                   d.next_retry_at, d.delivered, d.delivery_error, d.created_at, d.updated_at
            FROM   webhook_deliveries d
            JOIN   events e ON e.organization_id = d.organization_id AND e.id = d.event_id
            WHERE  d.organization_id = %(organization_id)s AND d.webhook_id = %(webhook_id)s AND d.id = %(id)s
            """,
            {
                "organization_id": organization_id,
                "webhook_id": webhook_id,
                "id": delivery_id,
                "attempts_max": ATTEMPTS_MAX,
            },
        )
        webhook_name = name()
        return Delivery(webhook_name=webhook_name, **found) if found is not None and webhook_name is not None else None

    def attempts(self, organization_id: UUID, delivery_id: UUID, *, limit: int) -> Sequence[DeliveryAttempt]:
        return self._all(
            DeliveryAttempt,
            f"""
            SELECT   {columns(DeliveryAttempt)}
            FROM     webhook_attempts
            WHERE    organization_id = %s AND delivery_id = %s AND id >= %s
            ORDER BY id DESC
            LIMIT    %s
            """,
            (organization_id, delivery_id, first_id_after(delivery_id), limit),
        )

    def _values_of(self, organization_id: UUID, webhook_id: UUID, wanted: DeliverySearch, limit: int) -> dict[str, Any]:
        kept_since = self._transaction.now - RETENTION
        return {
            "organization_id": organization_id,
            "webhook_id": webhook_id,
            **values_of(wanted.times),
            "first_id": max(first_id_since(kept_since), wanted.times.first_id),
            "event_type": wanted.event_type,
            "state": wanted.state.value if wanted.state is not None else None,
            "limit": limit,
        }
