"""When each organization may have a mail to send, in the table `mail_dues`.

Mails are looked for, locked and written for one organization at a time. The transaction that makes a mail due sets the
time, and keeps it from being postponed until it has ended; so a time may be too early, but never too late. `queued`
mails leave through the platform's mail server, `routed` ones through their organization's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, Literal, LiteralString, TypeAlias
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.ids import PLATFORM

Waiting: TypeAlias = Literal["queued", "routed"]

_PAUSE: Final = timedelta(seconds=10)
MARK: Final = "SELECT mark_mails_due(one, %s) FROM unnest(%s::uuid[]) AS one"


def _next(waiting: Waiting) -> LiteralString:
    # Two ranges of the index: mails that wait for their time, and among due mails only leased ones. These are checked
    # again before the lease ends: on a cluster, a lease may still be seen a moment after it has ended.
    return f"""
        SELECT least((SELECT   due_at
                      FROM     mails
                      WHERE    organization_id = %(organization_id)s AND state = '{waiting}'
                      AND      (leased_until IS NULL OR leased_until <= %(now)s)
                      ORDER BY due_at
                      LIMIT    1),
                     (SELECT min(least(leased_until, %(looked_at_again)s))
                      FROM   mails
                      WHERE  organization_id = %(organization_id)s AND state = '{waiting}'
                      AND    due_at <= %(now)s AND leased_until > %(now)s))
    """


def _put_off(waiting: Waiting) -> LiteralString:
    return f"""
        UPDATE mail_dues
        SET    {waiting}_at = next.at
        FROM   unnest(%s::uuid[], %s::timestamptz[]) AS next (organization_id, at)
        WHERE  mail_dues.organization_id = next.organization_id
    """


NEXT: Final[dict[Waiting, LiteralString]] = {"queued": _next("queued"), "routed": _next("routed")}
PUT_OFF: Final[dict[Waiting, LiteralString]] = {"queued": _put_off("queued"), "routed": _put_off("routed")}


class MailDues(Aggregate):
    """The marks of the organizations whose mails wait."""

    def mark(self, organization_ids: Iterable[UUID]) -> None:
        """Mark that these organizations have mails that are due; the platform has the id of zeros."""
        self._connection.execute_later(MARK, (self._transaction.now, sorted(set(organization_ids))))

    def put_off(self, organization_ids: Sequence[UUID], waiting: Waiting) -> None:
        """Set the times of organizations without a due mail to the times of their next mails.

        An organization for which another transaction makes a mail due is left as it is. The locks are held to the end
        of the transaction, so this comes last.
        """
        if not organization_ids:
            return
        free = self._values(
            "SELECT organization_id FROM mail_dues WHERE organization_id = ANY (%s) FOR UPDATE SKIP LOCKED",
            (list(organization_ids),),
        )
        # Statements of their own: they see the mails that were stored until the locks were taken.
        now = self._transaction.now
        times_known = {"now": now, "looked_at_again": now + _PAUSE}
        found = [
            self._defer_value_or_none(NEXT[waiting], {"organization_id": organization_id, **times_known})
            for organization_id in free
        ]
        # A mail that is due, and is not to be had by this version, is looked for again a little later.
        times = [
            next_at if next_at is None or next_at > now else now + _PAUSE for next_at in (read() for read in found)
        ]
        self._connection.execute_later(PUT_OFF[waiting], (free, times))

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        """Mark each of these organizations that exists and is not due soon; return how many."""
        if not organization_ids:
            return 0
        unmarked: list[UUID] = self._values(
            """
            SELECT   one.id
            FROM     unnest(%(found)s::uuid[]) AS one (id)
            LEFT     JOIN mail_dues d ON d.organization_id = one.id
            WHERE    coalesce(d.queued_at > %(soon)s, true) AND coalesce(d.routed_at > %(soon)s, true)
            AND      (one.id = %(platform)s OR EXISTS (SELECT FROM organizations o WHERE o.id = one.id))
            """,
            {"found": list(organization_ids), "soon": self._transaction.now + _PAUSE, "platform": PLATFORM},
        )
        if unmarked:
            self.mark(unmarked)
        return len(unmarked)
