"""Queues of targets for which something is due: webhooks with deliveries, and services with logout notices.

A target has one row in its queue, which says when something is due next and until when a dispatcher has leased it.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import FIRST_ID

# A lease considers this many that have waited longest, and prefers organizations with few places.
CANDIDATES_MAX: Final = 256


def leased_of(queue: LiteralString, target: LiteralString, *, is_served: LiteralString) -> LiteralString:
    """Return the parts of a statement that lease the targets of a queue; `leased` has their ids.

    The condition on the row `q` of the queue says whether the target is served at all.
    """
    return f"""
            waiting AS MATERIALIZED (
                SELECT   q.{target}, q.due_at, before.targets
                FROM     {queue} q
                CROSS JOIN LATERAL (SELECT count(*) AS targets
                                    FROM   {queue} other
                                    WHERE  other.organization_id = q.organization_id
                                    AND    (other.leased_until > %(now)s
                                            OR (other.due_at, other.{target}) < (q.due_at, q.{target}))) AS before
                WHERE    q.due_at <= %(now)s
                AND      (q.leased_until IS NULL OR q.leased_until <= %(now)s)
                AND      {is_served}
                AND      before.targets < %(of_organization_max)s
                ORDER BY q.due_at
                LIMIT    %(candidates_max)s
            ), due AS MATERIALIZED (
                SELECT   q.{target}
                FROM     waiting
                JOIN     {queue} q USING ({target})
                WHERE    q.leased_until IS NULL OR q.leased_until <= %(now)s
                -- An organization that has none yet comes before the second one of another.
                ORDER BY waiting.targets, waiting.due_at
                LIMIT    %(targets_max)s
                FOR      NO KEY UPDATE OF q SKIP LOCKED
            ), leased AS (
                UPDATE    {queue}
                SET       leased_until = %(leased_until)s
                FROM      due
                WHERE     {queue}.{target} = due.{target}
                RETURNING {queue}.{target}
            )
    """


class TargetQueue(Aggregate):
    """What is due to the targets of a `queue`: the rows of `items`, each with its `target`."""

    queue: ClassVar[LiteralString]
    target: ClassVar[LiteralString]
    items: ClassVar[LiteralString]

    def _release(self, organization_id: UUID, target_id: UUID, leased_until: datetime) -> None:
        held = self._defer_values(
            f"""
            SELECT {self.target}
            FROM   {self.queue}
            WHERE  organization_id = %s AND {self.target} = %s AND leased_until = %s
            FOR    NO KEY UPDATE
            """,
            (organization_id, target_id, leased_until),
        )
        # A statement of its own: it sees the items that were made while the one above waited for the lock.
        due_at = self._value_or_none(
            f"""
            SELECT   greatest(next_retry_at, %(now)s)
            FROM     {self.items}
            WHERE    organization_id = %(organization_id)s AND {self.target} = %(target_id)s
            AND      next_retry_at IS NOT NULL AND id >= %(first_id)s
            ORDER BY next_retry_at
            LIMIT    1
            """,
            {
                "now": self._transaction.now,
                "organization_id": organization_id,
                "target_id": target_id,
                "first_id": self._first_kept_id(),
            },
        )
        if held():
            self._connection.execute_later(
                f"""
                UPDATE {self.queue}
                SET    leased_until = NULL, due_at = %s
                WHERE  organization_id = %s AND {self.target} = %s
                """,
                (due_at, organization_id, target_id),
            )

    def _first_kept_id(self) -> UUID:
        """Return the lowest id that an item can have which is kept."""
        return FIRST_ID
