"""Sign-ins without a session yet, in the tables `mfa_challenges`, `passkey_challenges`, `one_time_tokens` and
`upstream_sign_ins`.

A sign-in challenge for a passkey names no account. So passkey challenges have numbers from one sequence, and an account
has the number up to which it answers none.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate

# Sign-ins to the organization, by its connections, or possibly to a service that it uses as a customer.
_OF_ORGANIZATION: Final = """
    UPDATE mfa_challenges
    SET    used_at = %(now)s
    WHERE  user_id = %(user_id)s AND used_at IS NULL
      AND  (context ->> 'organization' = (SELECT slug FROM organizations WHERE id = %(id)s)
            OR context -> 'confinement' ->> 'organization_id' = %(id)s::uuid::text
            OR EXISTS (SELECT FROM service_customers c
                       JOIN   organizations v ON v.id = c.vendor_id
                       JOIN   organizations o ON o.id = c.organization_id
                       WHERE  (c.organization_id = %(id)s
                               OR c.id = (SELECT internal_of FROM organizations WHERE id = %(id)s))
                         AND  v.slug = context ->> 'organization'
                         AND  coalesce(context ->> 'customer' IN (c.id::text, o.slug), true)))
"""


class PostgresUnfinishedSignIns(Aggregate):
    """The port `UnfinishedSignIns`."""

    def end_all(self, user_id: UUID) -> None:
        self._connection.execute_later(
            "UPDATE users SET passkey_challenges_ended = nextval('passkey_challenge_numbers') WHERE id = %s", (user_id,)
        )
        self._connection.execute_later(
            "UPDATE mfa_challenges SET used_at = %s WHERE user_id = %s AND used_at IS NULL",
            (self._transaction.now, user_id),
        )
        self._connection.execute_later(
            """
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  user_id = %s AND purpose IN ('magic_link', 'magic_link_code') AND used_at IS NULL
            """,
            (self._transaction.now, user_id),
        )

    def end_in_organization(self, organization_id: UUID, *, user_id: UUID) -> None:
        self._connection.execute_later(
            _OF_ORGANIZATION, {"now": self._transaction.now, "user_id": user_id, "id": organization_id}
        )
        self._connection.execute_later(
            """
            UPDATE upstream_sign_ins
            SET    ended_at = %s
            WHERE  organization_id = %s AND user_id = %s AND ended_at IS NULL
            """,
            (self._transaction.now, organization_id, user_id),
        )
        self._connection.execute_later(
            """
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  user_id = %s AND purpose IN ('magic_link', 'magic_link_code')
              AND  data ->> 'org_slug' = (SELECT slug FROM organizations WHERE id = %s) AND used_at IS NULL
            """,
            (self._transaction.now, user_id, organization_id),
        )

    def end_by_connection(self, organization_id: UUID, connection_id: UUID) -> None:
        # The index on the end of challenges finds the few that are open.
        self._connection.execute_later(
            """
            UPDATE mfa_challenges
            SET    used_at = %(now)s
            WHERE  expires_at > %(now)s AND context -> 'confinement' ->> 'organization_id' = %(organization_id)s
              AND  context -> 'confinement' ->> 'connection_id' = %(connection_id)s AND used_at IS NULL
            """,
            {
                "now": self._transaction.now,
                "organization_id": str(organization_id),
                "connection_id": str(connection_id),
            },
        )
        self._connection.execute_later(
            """
            UPDATE upstream_sign_ins
            SET    ended_at = %s
            WHERE  organization_id = %s AND connection_id = %s AND ended_at IS NULL
            """,
            (self._transaction.now, organization_id, connection_id),
        )
