"""The provider's subscriptions, in the table `billing_subscriptions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.billing.events import facts_as_json, facts_from_json
from adapters.postgres.services.plans import PLAN
from adapters.postgres.services.subscriptions import SUBSCRIPTION, subscription_row
from adapters.postgres.transaction import Aggregate
from core.billing.histories import HISTORICAL, HistoryEntry
from core.billing.notices import NOTICES, Buyer
from core.billing.provider import SubscriptionBinding
from core.billing.provider_events import Effect
from core.billing.reconciliation import DueSubscription
from core.billing.subscriptions import BillingSubscription, Known, StoredEntry, SubscriptionOutcome
from core.services.plans import Plan
from core.services.subscriptions import LIVE, SubscriptionStatus
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from core.deferred import Deferred

# More than a subscription of ten years has.
HISTORY_ENTRIES_MAX: Final = 2_000
# As array literals, because psycopg takes a tenth of a millisecond to encode a list, for every event anew.
_HISTORICAL: Final = f"{{{','.join(effect.value for effect in HISTORICAL)}}}"
_NOTICES: Final = f"{{{','.join(effect.value for effect in NOTICES)}}}"
_FINAL: Final = f"{{{','.join(status.value for status in SubscriptionStatus if status not in LIVE)}}}"

HISTORY: Final = """
    SELECT   id AS event_id, occurred_at, effect, facts, billing_customer_id
    FROM     billing_events
    WHERE    billing_subscription_id = %(id)s
      AND    (effect = ANY (%(notices)s::text[]) AND NOT is_noticed
              OR effect = ANY (%(historical)s::text[])
                 AND (effect = 'ended'
                      OR facts ->> 'status' = ANY (%(final)s::text[])
                      OR (SELECT organization_id IS NULL FROM billing_subscriptions WHERE id = %(id)s)
                      OR occurred_at >= coalesce((SELECT max(occurred_at)
                                                  FROM   billing_events
                                                  WHERE  billing_subscription_id = %(id)s AND effect = 'snapshot'),
                                                 '-infinity')))
    ORDER BY occurred_at DESC
    LIMIT    %(limit)s
"""
PLANS: Final = f"""
    {PLAN}
    WHERE  billing_price_id IN (SELECT facts ->> 'price_id'
                                FROM   billing_events
                                WHERE  billing_subscription_id = %(id)s
                                UNION
                                SELECT read_facts ->> 'price_id' FROM billing_subscriptions WHERE id = %(id)s)
"""
CURRENT: Final = f"{SUBSCRIPTION} WHERE b.billing_subscription_id = %s FOR NO KEY UPDATE OF b"
ENDED: Final = """
    SELECT EXISTS (SELECT FROM organizations WHERE id = %(organization_id)s AND status = 'deleting')
           OR EXISTS (SELECT FROM users WHERE id = %(user_id)s AND anonymized_at IS NOT NULL)
"""
HAS_ACCOUNT: Final = "SELECT EXISTS (SELECT FROM users WHERE id = %s)"
DELETED: Final = """
    (SELECT target_type
     FROM   audit_entries
     WHERE  organization_id = %(organization_id)s AND target_type = 'service'
       AND  target_id = %(service_id)s::uuid::text AND action = 'service.deleted'
     LIMIT  1)
    UNION   ALL
    (SELECT target_type
     FROM   audit_entries
     WHERE  organization_id = %(organization_id)s AND target_type = 'user'
       AND  target_id = %(user_id)s::uuid::text AND action = 'user.removed'
     LIMIT  1)
"""


class PostgresBillingSubscriptions(Aggregate):
    """The port `BillingSubscriptions`."""

    def defer_known(self, subscription_id: str, customer_id: str | None) -> Deferred[Known]:
        # All of it in one round trip. PostgreSQL executes the statements one after the other, and each sees what was
        # committed before it began, so what follows the lock is up to date.
        locked, known = self._defer_lock(subscription_id), self._defer_rest(subscription_id)

        def read() -> Known:
            subscription = locked()
            if subscription is not None:
                return known(subscription)
            # A new one, which nothing has locked yet.
            self._defer_add(subscription_id, customer_id)
            again, rest = self._defer_lock(subscription_id), self._defer_rest(subscription_id)
            added = again()
            assert added is not None, "a subscription was added and is not there"
            return rest(added)

        return read

    def save(self, subscription: BillingSubscription) -> None:
        binding = subscription.binding
        self._connection.execute_later(
            """
            UPDATE billing_subscriptions
            SET    customer_id = %(customer_id)s,
                   mode = (SELECT mode FROM billing_customers WHERE id = %(customer_id)s),
                   organization_id = %(organization_id)s, service_id = %(service_id)s,
                   plan_id = %(plan_id)s, user_id = %(user_id)s,
                   outcome = %(outcome)s, read_facts = %(read_facts)s, read_as_of = %(read_as_of)s,
                   check_at = %(check_at)s, updated_at = %(now)s
            WHERE  id = %(id)s
            """,
            {
                "id": subscription.id,
                "customer_id": subscription.customer_id,
                "organization_id": binding.organization_id if binding is not None else None,
                "service_id": binding.service_id if binding is not None else None,
                "plan_id": binding.plan_id if binding is not None else None,
                "user_id": binding.user_id if binding is not None else None,
                "outcome": subscription.outcome.value,
                "read_facts": Jsonb(facts_as_json(subscription.read)) if subscription.read is not None else None,
                "read_as_of": subscription.read_as_of,
                "check_at": subscription.check_at,
                "now": self._transaction.now,
            },
        )
        if subscription.check_at is not None and subscription.check_at <= self._transaction.now:
            self._transaction.made_due.add(WorkKind.BILLING)

    def of_customer(self, customer_id: str) -> Sequence[str]:
        return self._values(
            """
            SELECT id FROM billing_subscriptions WHERE customer_id = %(customer_id)s
            UNION
            SELECT s.id
            FROM   billing_events e
            JOIN   billing_subscriptions s ON s.id = e.billing_subscription_id AND s.organization_id IS NULL
            WHERE  e.billing_customer_id = %(customer_id)s
            ORDER BY 1
            """,
            {"customer_id": customer_id},
        )

    def conflicts(self, binding: SubscriptionBinding) -> Sequence[str]:
        return self._values(
            """
            SELECT   id
            FROM     billing_subscriptions
            WHERE    organization_id = %s AND user_id = %s AND service_id = %s AND outcome = 'conflict'
            ORDER BY created_at, id
            """,
            (binding.organization_id, binding.user_id, binding.service_id),
        )

    def due(self, organization_id: UUID, customer_id: str, *, at: datetime, limit: int) -> Sequence[DueSubscription]:
        return self._all(
            DueSubscription,
            """
            SELECT   s.id, (SELECT max(e.occurred_at)
                            FROM   billing_events e
                            WHERE  e.billing_subscription_id = s.id) AS newest_event_at
            FROM     billing_subscriptions s
            WHERE    s.organization_id = %s AND s.customer_id = %s AND s.check_at <= %s
            ORDER BY s.check_at
            LIMIT    %s
            """,
            (organization_id, customer_id, at, limit),
        )

    def postpone(self, subscription_id: str, *, until: datetime) -> None:
        self._connection.execute_later(
            "UPDATE billing_subscriptions SET check_at = %s WHERE id = %s", (until, subscription_id)
        )

    def is_purchasable(self, binding: SubscriptionBinding) -> bool:
        # Locked, because the account or the service may be deleted at this moment.
        return self._finds_any(
            """
            SELECT
            FROM   services s
            JOIN   organizations o ON o.id = s.organization_id AND o.status <> 'deleting'
            JOIN   plans p ON p.organization_id = s.organization_id AND p.service_id = s.id
            JOIN   users u ON u.id = %s AND u.anonymized_at IS NULL
            WHERE  s.organization_id = %s AND s.id = %s AND p.id = %s
            FOR    KEY SHARE OF s, u
            """,
            (binding.user_id, binding.organization_id, binding.service_id, binding.plan_id),
        )

    def is_undeliverable(self, binding: SubscriptionBinding) -> bool:
        named = {"organization_id": binding.organization_id, "user_id": binding.user_id}
        has_ended = self._defer_value_or_none(ENDED, named)
        has_account = self._defer_value_or_none(HAS_ACCOUNT, (binding.user_id,))
        # An id that the organization never had proves nothing, so the audit log is read for what it has deleted. It is
        # read last: it has an entry for every deleted account.
        deleted = self._values(DELETED, {**named, "service_id": binding.service_id})
        return has_ended() or "service" in deleted or ("user" in deleted and not has_account())

    def buyer(self, binding: SubscriptionBinding) -> Buyer | None:
        return self._one(
            Buyer,
            """
            SELECT u.email, s.name AS service_name, o.name AS organization_name
            FROM   users u, services s
            JOIN   organizations o ON o.id = s.organization_id
            WHERE  u.id = %s AND u.deactivated_at IS NULL AND s.organization_id = %s AND s.id = %s
            """,
            (binding.user_id, binding.organization_id, binding.service_id),
        )

    def _defer_add(self, subscription_id: str, customer_id: str | None) -> None:
        now = self._transaction.now
        self._connection.execute_later(
            """
            INSERT INTO billing_subscriptions (id, customer_id, outcome, created_at, updated_at)
            VALUES (%s, %s, 'parked', %s, %s)
            ON CONFLICT (id) DO NOTHING
            """,
            (subscription_id, customer_id, now, now),
        )

    def _defer_lock(self, subscription_id: str) -> Deferred[BillingSubscription | None]:
        return self._defer_one(
            _subscription,
            """
            SELECT id, customer_id, organization_id, service_id, plan_id, user_id, outcome, read_facts, read_as_of,
                   check_at
            FROM   billing_subscriptions
            WHERE  id = %s
            FOR    UPDATE
            """,
            (subscription_id,),
        )

    def _defer_rest(self, subscription_id: str) -> Callable[[BillingSubscription], Known]:
        history = self._defer_all(
            _stored_entry,
            HISTORY,
            {
                "id": subscription_id,
                "notices": _NOTICES,
                "historical": _HISTORICAL,
                "final": _FINAL,
                "limit": HISTORY_ENTRIES_MAX,
            },
        )
        plans = self._defer_all(Plan, PLANS, {"id": subscription_id})
        current = self._defer_one(subscription_row, CURRENT, (subscription_id,))
        return lambda subscription: Known(
            subscription=subscription,
            history=history(),
            plans={plan.billing_price_id or "": plan for plan in plans()},
            current=current(),
        )


def _subscription(
    *,
    organization_id: UUID | None,
    service_id: UUID | None,
    plan_id: UUID | None,
    user_id: UUID | None,
    outcome: str,
    read_facts: dict[str, Any] | None,
    **columns: Any,
) -> BillingSubscription:
    binding = None
    if organization_id is not None and service_id is not None and plan_id is not None and user_id is not None:
        binding = SubscriptionBinding(
            organization_id=organization_id, service_id=service_id, plan_id=plan_id, user_id=user_id
        )
    return BillingSubscription(
        binding=binding,
        outcome=SubscriptionOutcome(outcome),
        read=facts_from_json(read_facts) if read_facts is not None else None,
        **columns,
    )


def _stored_entry(
    *, event_id: str, occurred_at: datetime, effect: str, facts: dict[str, Any], billing_customer_id: str | None
) -> StoredEntry:
    entry = HistoryEntry(
        event_id=event_id, occurred_at=occurred_at, effect=Effect(effect), facts=facts_from_json(facts)
    )
    return StoredEntry(entry=entry, customer_id=billing_customer_id)
