"""Finding what is due by one statement: each part is a range of an index that begins with what is due first.

The conditions are the same as for the leases, without the shares of organizations and the postponed work.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from adapters.postgres.transaction import Aggregate
from core.billing.provider import BillingMode
from core.ids import first_id_since

# Planned each time: a prepared statement would be planned for tables that were empty when it was sent first.
NEXT: Final = """
    SELECT work, due_at
    FROM   (VALUES
        ('mail',
         (SELECT   d.queued_at
          FROM     mail_dues d
          WHERE    d.queued_at IS NOT NULL
          AND      coalesce((SELECT o.status FROM organizations o WHERE o.id = d.organization_id), 'active') = 'active'
          ORDER BY d.queued_at
          LIMIT    1)),
        ('routed_mail',
         (SELECT min(greatest(d.routed_at, s.next_attempt_at))
          FROM   mail_dues d
          JOIN   mail_servers s ON s.organization_id = d.organization_id
          WHERE  d.routed_at IS NOT NULL
          AND    (s.leased_until IS NULL OR s.leased_until <= %(now)s)
          AND    (SELECT o.status = 'active' FROM organizations o WHERE o.id = s.organization_id))),
        ('events',
         -- Of the first marks: they are removed as soon as nothing waits.
         least((SELECT   least(events_at, %(now)s)
                FROM     (SELECT events_at FROM log_dues WHERE events ORDER BY organization_id LIMIT 100) AS marked
                ORDER BY events_at
                LIMIT    1),
               platform_event_waits(%(events_since)s, %(events_from)s))),
        ('deliveries',
         (SELECT   q.due_at
          FROM     webhook_queues q
          WHERE    q.due_at IS NOT NULL AND (q.leased_until IS NULL OR q.leased_until <= %(now)s)
          AND      (SELECT w.is_active AND o.status = 'active'
                    FROM   webhooks w
                    JOIN   organizations o ON o.id = w.organization_id
                    WHERE  w.id = q.webhook_id)
          ORDER BY q.due_at
          LIMIT    1)),
        ('logouts',
         (SELECT   q.due_at
          FROM     logout_queues q
          WHERE    q.due_at IS NOT NULL AND (q.leased_until IS NULL OR q.leased_until <= %(now)s)
          AND      (SELECT o.status = 'active' FROM organizations o WHERE o.id = q.organization_id)
          ORDER BY q.due_at
          LIMIT    1)),
        ('streams',
         (SELECT   s.due_at
          FROM     siem_streams s
          WHERE    s.enabled AND s.due_at IS NOT NULL AND (s.leased_until IS NULL OR s.leased_until <= %(now)s)
          AND      (SELECT o.status = 'active' FROM organizations o WHERE o.id = s.organization_id)
          ORDER BY s.due_at
          LIMIT    1)),
        ('sealing',
         (SELECT   %(now)s::timestamptz
          FROM     log_dues
          WHERE    entries AND %(finds_seals)s
          ORDER BY organization_id
          LIMIT    1)),
        ('service_users',
         (SELECT %(now)s::timestamptz FROM service_user_changes LIMIT 1)),
        ('customer_sessions',
         least((SELECT %(now)s::timestamptz FROM customer_rechecks WHERE due_at IS NULL LIMIT 1),
               (SELECT   due_at
                FROM     customer_rechecks
                WHERE    due_at IS NOT NULL
                ORDER BY due_at
                LIMIT    1),
               (SELECT %(now)s::timestamptz FROM customer_user_checks LIMIT 1))),
        ('billing',
         least((SELECT   c.due_at
                FROM     billing_cancellations c
                WHERE    c.mode = %(mode)s AND c.due_at IS NOT NULL
                ORDER BY c.due_at
                LIMIT    1),
               (SELECT   b.check_at
                FROM     billing_subscriptions b
                JOIN     billing_customers c
                         ON c.id = b.customer_id
                            AND coalesce(c.organization_id, c.seller_organization_id) = b.organization_id
                WHERE    b.check_at IS NOT NULL AND c.mode = %(mode)s
                AND      (c.leased_until IS NULL OR c.leased_until <= %(now)s)
                ORDER BY b.check_at
                LIMIT    1))),
        ('bulk_jobs',
         (SELECT   j.due_at
          FROM     bulk_jobs j
          WHERE    j.state = 'running' AND (j.leased_until IS NULL OR j.leased_until <= %(now)s)
          ORDER BY j.due_at
          LIMIT    1)),
        ('invitations',
         -- The events of the last minute separately: before them may be many of organizations that are not active.
         least((SELECT   i.expires_at
                FROM     (SELECT   organization_id, expires_at
                          FROM     invitations
                          WHERE    status = 'pending'
                          ORDER BY expires_at, id
                          LIMIT    1000) AS i
                WHERE    (SELECT o.status = 'active' FROM organizations o WHERE o.id = i.organization_id)
                ORDER BY i.expires_at
                LIMIT    1),
               (SELECT   i.expires_at
                FROM     (SELECT   organization_id, expires_at
                          FROM     invitations
                          WHERE    status = 'pending' AND expires_at > %(now)s - interval '1 minute'
                          ORDER BY expires_at, id
                          LIMIT    1000) AS i
                WHERE    (SELECT o.status = 'active' FROM organizations o WHERE o.id = i.organization_id)
                ORDER BY i.expires_at
                LIMIT    1))),
        ('sandbox',
         (SELECT due_at FROM sandbox_deliveries WHERE %(mode)s = 'sandbox' ORDER BY due_at, id LIMIT 1))
    ) AS found (work, due_at)
    WHERE  due_at IS NOT NULL
"""


def parameters(
    *, now: datetime, events_since: datetime, mode: BillingMode, finds_seals: bool = True
) -> dict[str, object]:
    """Return the values of the statement."""
    return {
        "now": now,
        "events_since": events_since,
        "events_from": first_id_since(events_since),
        "finds_seals": finds_seals,
        "mode": mode.value,
    }


class PostgresDueWork(Aggregate):
    """The port `DueWork`."""

    def next(
        self, *, now: datetime, events_since: datetime, mode: BillingMode, finds_seals: bool = True
    ) -> Mapping[str, datetime]:
        values = parameters(now=now, events_since=events_since, mode=mode, finds_seals=finds_seals)
        return {row["work"]: row["due_at"] for row in self._rows(NEXT, values, prepare=False)}
