"""The payment provider's events, in the table `billing_events`, and what each says, as JSON in the column `facts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.transaction import Aggregate
from core.billing.provider import ORG_ID, PLAN_ID, SERVICE_ID, USER_ID, Facts, SubscriptionBinding
from core.billing.provider_customers import METHOD_EFFECTS, MethodEntry
from core.billing.provider_events import BillingEvent, Effect
from core.services.subscriptions import SubscriptionStatus

if TYPE_CHECKING:
    from core.deferred import Deferred


def facts_as_json(facts: Facts) -> dict[str, Any]:
    """Return the facts that are known, as JSON."""
    return {
        name: value
        for name, value in {
            "status": facts.status,
            "price_id": facts.price_id,
            "period_end": facts.period_end.isoformat() if facts.period_end is not None else None,
            "metadata": facts.binding.metadata if facts.binding is not None else None,
        }.items()
        if value is not None
    }


def facts_from_json(stored: Mapping[str, Any]) -> Facts:
    """Return facts that were stored."""
    status, period_end, metadata = stored.get("status"), stored.get("period_end"), stored.get("metadata")
    return Facts(
        status=SubscriptionStatus(status) if status is not None else None,
        price_id=stored.get("price_id"),
        period_end=datetime.fromisoformat(period_end) if period_end is not None else None,
        binding=_binding(metadata) if metadata is not None else None,
    )


def _binding(metadata: Mapping[str, str]) -> SubscriptionBinding:
    return SubscriptionBinding(
        organization_id=UUID(metadata[ORG_ID]),
        service_id=UUID(metadata[SERVICE_ID]),
        plan_id=UUID(metadata[PLAN_ID]),
        user_id=UUID(metadata[USER_ID]),
    )


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
