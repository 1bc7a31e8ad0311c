"""The payment provider's events, in the table `billing_events`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from psycopg.types.json import Jsonb

from adapters.postgres.billing.facts import facts_as_json
from adapters.postgres.transaction import Aggregate
from core.billing.customers import METHOD_EFFECTS, MethodEntry
from core.billing.provider_events import BillingEvent, Effect

if TYPE_CHECKING:
    from core.deferred import Deferred

# More than a subscription of ten years has.
HISTORY_ENTRIES_MAX: Final = 2_000
_METHODS: Final = [effect.value for effect in METHOD_EFFECTS]


class PostgresBillingEvents(Aggregate):
    """The port `BillingEvents`."""

    def defer_add(self, event: BillingEvent) -> Deferred[bool]:
        facts = facts_as_json(event.facts)
        if event.payment_method is not None:
            facts["payment_method"] = event.payment_method
        return self._defer_changes_one(
            """
            INSERT INTO billing_events (id, type, effect, billing_subscription_id, billing_customer_id, facts,
                                        occurred_at, received_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (id) DO NOTHING
            """,
            (
                event.id,
                event.type,
                event.effect.value,
                event.subscription_id,
                event.customer_id,
                Jsonb(facts),
                event.occurred_at,
                self._transaction.now,
            ),
        )

    def refuse(self, event_ids: Sequence[str]) -> None:
        self._connection.execute_later(
            "UPDATE billing_events SET effect = %s WHERE id = ANY (%s)", (Effect.REFUSED.value, list(event_ids))
        )

    def mark_noticed(self, event_ids: Sequence[str]) -> None:
        self._connection.execute_later(
            "UPDATE billing_events SET is_noticed = true WHERE id = ANY (%s)", (list(event_ids),)
        )

    def methods(self, customer_id: str) -> Sequence[MethodEntry]:
        return self._all(
            _method_entry,
            """
            SELECT   id AS event_id, occurred_at, effect, facts ->> 'payment_method' AS payment_method
            FROM     billing_events
            WHERE    billing_customer_id = %s AND effect = ANY (%s)
            ORDER BY occurred_at DESC
            LIMIT    %s
            """,
            (customer_id, _METHODS, HISTORY_ENTRIES_MAX),
        )


def _method_entry(*, event_id: str, occurred_at: datetime, effect: str, payment_method: str | None) -> MethodEntry:
    return MethodEntry(event_id=event_id, occurred_at=occurred_at, effect=Effect(effect), payment_method=payment_method)
