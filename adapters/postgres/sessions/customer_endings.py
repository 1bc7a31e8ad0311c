"""Ending the sessions of customers of services that are no longer open to their users."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from adapters.postgres.sessions.callers import IS_CUSTOMER_OPEN, counts, live_at
from adapters.postgres.sessions.customer_contexts import IS_ADMITTED, IS_OPEN_TO_INDIVIDUALS
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.parts import in_parts
from core.sessions.customer_endings import LOOKS_AGAIN_AFTER, LOOKS_TOGETHER_WITHIN, ClosedSession, RecheckedBatch

# Of sessions `s`, whose user `u` comes to the service `v` for a customer or, as the member `m` of the vendor, for none.
_IS_OPEN: Final = f"""
    CASE WHEN s.customer_id IS NOT NULL THEN {IS_CUSTOMER_OPEN} ELSE {IS_ADMITTED} AND {IS_OPEN_TO_INDIVIDUALS} END
"""
_CLOSED: Final = "u.id AS user_id, u.email, s.organization_id, s.service_id, s.customer_id"
# Sessions that users lose for an organization as a customer, and sessions without a customer at its own services.
END_LOST: Final = f"""
    WITH of_customer AS (
        UPDATE sessions s
        SET    revoked_at = %(now)s
        FROM   users u, services v
        WHERE  s.user_id = ANY (%(user_ids)s) AND s.revoked_at IS NULL
          AND  s.customer_id = ANY (ARRAY(SELECT id FROM service_customers WHERE organization_id = %(organization_id)s
                                          UNION ALL
                                          SELECT internal_of FROM organizations WHERE id = %(organization_id)s))
          AND  u.id = s.user_id AND v.id = s.service_id AND NOT {IS_CUSTOMER_OPEN}
        RETURNING {_CLOSED}
    ), of_members AS (
        UPDATE sessions s
        SET    revoked_at = %(now)s
        FROM   services v
        JOIN   users u            ON u.id = ANY (%(user_ids)s)
        LEFT   JOIN memberships m ON m.organization_id = v.organization_id AND m.user_id = u.id
                                 AND m.suspended_at IS NULL
        WHERE  v.organization_id = %(organization_id)s AND v.access <> 'everyone'
          AND  s.organization_id = v.organization_id AND s.service_id = v.id AND s.user_id = u.id
          AND  s.customer_id IS NULL AND s.revoked_at IS NULL AND NOT {IS_ADMITTED}
        RETURNING {_CLOSED}
    )
    SELECT * FROM of_customer
    UNION  ALL
    SELECT * FROM of_members
"""
# For what a sign-in began that is committed later. Many changes at once are looked at together.
LOOK_AGAIN: Final = """
    INSERT INTO customer_rechecks (id, service_id, customer_id, reason, after_session, created_at, due_at)
    SELECT gen_random_uuid(), lost.service_id, lost.customer_id, 'lost', %(after)s, clock_timestamp(), %(due_at)s
    FROM   (SELECT c.service_id, c.id AS customer_id
            FROM   service_customers c
            WHERE  c.organization_id = %(organization_id)s AND c.access = 'assigned'
            UNION  ALL
            SELECT v.id, NULL
            FROM   services v
            WHERE  v.organization_id = %(organization_id)s AND v.access <> 'everyone') AS lost
    WHERE  NOT EXISTS (SELECT FROM customer_rechecks r
                       WHERE  r.service_id = lost.service_id AND r.customer_id IS NOT DISTINCT FROM lost.customer_id
                         AND  r.due_at > %(late_enough)s)
"""
# In turn: a change that has begun to be worked off goes behind the others after each batch. What waits for the same
# sessions begins when it has ended, but for looking at them again.
FIRST: Final = """
    SELECT   r.id, r.service_id, r.customer_id, r.after_session, r.due_at
    FROM     customer_rechecks r
    WHERE    CASE WHEN r.due_at IS NOT NULL THEN r.due_at <= %(now)s
                  ELSE r.after_session IS NOT NULL
                    OR NOT EXISTS (SELECT FROM customer_rechecks begun
                                   WHERE  begun.service_id = r.service_id
                                     AND  begun.customer_id IS NOT DISTINCT FROM r.customer_id
                                     AND  begun.after_session IS NOT NULL AND begun.due_at IS NULL)
             END
    ORDER BY r.created_at, r.id
    LIMIT    1
    FOR      UPDATE OF r
"""
# What else waits for the same sessions was committed before the first batch reads them, which so does its work too. Of
# what waits for later batches one is enough.
COVERED: Final = """
    DELETE FROM customer_rechecks r
    WHERE  r.service_id = %(service_id)s AND r.customer_id IS NOT DISTINCT FROM %(customer_id)s
      AND  r.after_session IS NULL AND r.id <> %(id)s
      AND  (%(after_session)s::uuid IS NULL
            OR EXISTS (SELECT FROM customer_rechecks later
                       WHERE  later.service_id = r.service_id
                         AND  later.customer_id IS NOT DISTINCT FROM r.customer_id
                         AND  later.after_session IS NULL AND later.id > r.id))
"""
# A batch of the sessions of a customer, or of a service where no customer is given; a deleted customer has none.
BATCH: Final = f"""
    WITH batch AS MATERIALIZED (
        (SELECT   id
         FROM     sessions
         WHERE    customer_id = %(customer_id)s AND id > %(after)s
         ORDER BY id
         LIMIT    %(limit)s)
        UNION ALL
        (SELECT   id
         FROM     sessions
         WHERE    %(customer_id)s::uuid IS NULL AND service_id = %(service_id)s AND id > %(after)s
         ORDER BY id
         LIMIT    %(limit)s)
    ), closed AS (
        UPDATE sessions s
        SET    revoked_at = %(now)s
        FROM   batch b
        JOIN   sessions o             ON o.id = b.id
        JOIN   users u                ON u.id = o.user_id
        JOIN   services v             ON v.id = o.service_id
        LEFT   JOIN memberships m     ON m.organization_id = o.organization_id AND m.user_id = o.user_id
                                     AND m.suspended_at IS NULL AND {counts("m", "o")}
        WHERE  s.id = b.id AND s.revoked_at IS NULL AND s.expires_at > %(now)s AND NOT {_IS_OPEN}
        RETURNING {_CLOSED}
    )
    SELECT (SELECT count(*) FROM batch) AS read, (SELECT max(id::text) FROM batch) AS last,
           coalesce((SELECT jsonb_agg(to_jsonb(closed)) FROM closed), '[]') AS closed
"""
_NO_SESSION: Final = UUID(int=0)


class PostgresCustomerSessions(Aggregate):
    """The port `CustomerSessions`."""

    def end_lost(self, organization_id: UUID, user_ids: Collection[UUID]) -> list[ClosedSession]:
        now = self._transaction.now
        due_at = now + LOOKS_AGAIN_AFTER
        self._connection.execute_later(
            LOOK_AGAIN,
            {
                "organization_id": organization_id,
                "after": first_id_since(now),
                "due_at": due_at,
                "late_enough": due_at - LOOKS_TOGETHER_WITHIN,
            },
        )
        return [
            closed
            for part in in_parts(user_ids)
            for closed in self._all(
                ClosedSession, END_LOST, {"organization_id": organization_id, "user_ids": part, **live_at(now)}
            )
        ]

    def recheck(self, sessions_max: int) -> RecheckedBatch | None:
        now = self._transaction.now
        waiting = self._row(FIRST, {"now": now})
        if waiting is None:
            return None
        self._connection.execute_later(COVERED, waiting)
        found = self._row(
            BATCH,
            {
                "customer_id": waiting["customer_id"],
                "service_id": waiting["service_id"],
                "after": waiting["after_session"] or _NO_SESSION,
                "limit": sessions_max,
                **live_at(now),
            },
        )
        assert found is not None, "a statement without a table has no row"
        is_full = found["read"] == sessions_max
        if is_full:
            self._connection.execute_later(
                "UPDATE customer_rechecks SET after_session = %s, created_at = clock_timestamp() WHERE id = %s",
                (found["last"], waiting["id"]),
            )
        elif waiting["due_at"] is None:
            self._connection.execute_later(
                """
                UPDATE customer_rechecks
                SET    after_session = %s, due_at = %s, created_at = clock_timestamp()
                WHERE  id = %s
                """,
                (first_id_since(now), now + LOOKS_AGAIN_AFTER, waiting["id"]),
            )
        else:
            self._connection.execute_later("DELETE FROM customer_rechecks WHERE id = %s", (waiting["id"],))
        return RecheckedBatch(closed=[_closed(**one) for one in found["closed"]], is_full=is_full)


def _closed(*, email: str, customer_id: str | None, **ids: str) -> ClosedSession:
    return ClosedSession(
        email=email,
        customer_id=UUID(customer_id) if customer_id is not None else None,
        **{name: UUID(value) for name, value in ids.items()},
    )
