"""The first sign-ins to services, in the table `login_events`."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.log_times import first_kept_id, kept_values
from adapters.postgres.transaction import Aggregate
from core.ids import first_id_since
from core.services.first_sign_ins import FirstSignIn

# In the order of the index of a service, from the month in which it was created on. A person who has left is not named:
# the account may have another address by now, which this organization must not see.
FIND: Final = """
    SELECT e.created_at AS signed_in_at, u.email
    FROM   (SELECT   created_at, user_id
            FROM     login_events
            WHERE    organization_id = %(organization_id)s AND service_id = %(service_id)s AND success
              AND    id >= %(from_id)s AND id < %(now_id)s
            ORDER BY id
            LIMIT    1) e
    LEFT   JOIN users u
           ON  u.id = e.user_id
           AND (EXISTS (SELECT FROM service_users l
                        WHERE  l.organization_id = %(organization_id)s AND l.service_id = %(service_id)s
                          AND  l.user_id = u.id)
                OR EXISTS (SELECT FROM memberships m
                           WHERE  m.organization_id = %(organization_id)s AND m.user_id = u.id))
"""


class PostgresFirstSignIns(Aggregate):
    """The port `FirstSignIns`."""

    def find(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> FirstSignIn | None:
        now = self._transaction.now
        return self._one(
            FirstSignIn,
            FIND,
            {
                "organization_id": organization_id,
                "service_id": service_id,
                "from_id": max(first_kept_id(now), first_id_since(since)),
                "now_id": kept_values(now)["now_id"],
            },
        )
