"""The payment provider's events, in the table `billing_events`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Jsonb

from adapters.postgres.billing.facts import facts_as_json, facts_from_json
from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.billing.customers import METHOD_EFFECTS, MethodEntry
from core.billing.histories import HISTORICAL, Entry
from core.billing.provider_events import NOTICES, Effect
from core.billing.subscriptions import StoredEntry
from core.services.subscriptions import LIVE, SubscriptionStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from core.billing.provider_events import BillingEvent
    from core.deferred import Deferred

# More than a subscription of ten years has.
HISTORY_ENTRIES_MAX: Final = 2_000
_HISTORICAL: Final = [effect.value for effect in HISTORICAL]
_NOTICES: Final = [effect.value for effect in NOTICES]
_METHODS: Final = [effect.value for effect in METHOD_EFFECTS]
_FINAL: Final = [status.value for status in SubscriptionStatus if status not in LIVE]


class PostgresBillingEvents(Aggregate):
    """The port `BillingEvents`."""

    def defer_add(self, event: BillingEvent) -> Deferred[bool]:
        facts = facts_as_json(event.facts)
        if event.payment_method is not None:
            facts["payment_method"] = event.payment_method
        added = self._connection.cursor().defer(
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
        return lambda: added.rowcount == 1

    def defer_history(self, subscription_id: str, *, is_whole: bool) -> Deferred[Sequence[StoredEntry]]:
        found = self._connection.cursor(row_factory=kwargs_row(_stored_entry)).defer(
            """
            SELECT   id AS event_id, occurred_at, effect, facts, billing_customer_id
            FROM     billing_events
            WHERE    billing_subscription_id = %(id)s
              AND    (effect = ANY (%(notices)s) AND NOT is_noticed
                      OR effect = ANY (%(historical)s)
                         AND (%(is_whole)s
                              OR effect = 'ended'
                              OR facts ->> 'status' = ANY (%(final)s)
                              OR occurred_at >= coalesce((SELECT max(occurred_at)
                                                          FROM   billing_events
                                                          WHERE  billing_subscription_id = %(id)s
                                                            AND  effect = 'snapshot'),
                                                         '-infinity')))
            ORDER BY occurred_at DESC
            LIMIT    %(limit)s
            """,
            {
                "id": subscription_id,
                "notices": _NOTICES,
                "historical": _HISTORICAL,
                "is_whole": is_whole,
                "final": _FINAL,
                "limit": HISTORY_ENTRIES_MAX,
            },
        )
        return found.fetchall

    def refuse(self, event_ids: Sequence[str]) -> None:
        self._connection.execute_later(
            "UPDATE billing_events SET effect = %s WHERE id = ANY (%s)", (Effect.REFUSED.value, list(event_ids))
        )

    def mark_noticed(self, event_ids: Sequence[str]) -> None:
        self._connection.execute_later(
            "UPDATE billing_events SET is_noticed = true WHERE id = ANY (%s)", (list(event_ids),)
        )

    def methods(self, customer_id: str) -> Sequence[MethodEntry]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_method_entry))
            .execute(
                """
                SELECT   id AS event_id, occurred_at, effect, facts ->> 'payment_method' AS payment_method
                FROM     billing_events
                WHERE    billing_customer_id = %s AND effect = ANY (%s)
                ORDER BY occurred_at DESC
                LIMIT    %s
                """,
                (customer_id, _METHODS, HISTORY_ENTRIES_MAX),
            )
            .fetchall()
        )


def _stored_entry(
    *, event_id: str, occurred_at: datetime, effect: str, facts: dict[str, Any], billing_customer_id: str | None
) -> StoredEntry:
    entry = Entry(event_id=event_id, occurred_at=occurred_at, effect=Effect(effect), facts=facts_from_json(facts))
    return StoredEntry(entry=entry, customer_id=billing_customer_id)


def _method_entry(*, event_id: str, occurred_at: datetime, effect: str, payment_method: str | None) -> MethodEntry:
    return MethodEntry(event_id=event_id, occurred_at=occurred_at, effect=Effect(effect), payment_method=payment_method)
