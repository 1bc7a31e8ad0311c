"""What services note about their users, in the table `service_user_metadata`.

Triggers on the links end it with the last one, and move it along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.affiliations import NAMED_ACCOUNT
from adapters.postgres.transaction import Aggregate
from core.services.user_metadata import HeldUser, ServiceUser

# What a service `service_id` notes about its user `user_id`, of the links `l`.
NOTED: Final = """
    coalesce((SELECT metadata
              FROM   service_user_metadata
              WHERE  organization_id = l.organization_id AND service_id = l.service_id AND user_id = l.user_id), '{}')
"""
_LINK: Final = f"""
    SELECT u.id AS account_id, coalesce(k.known_id, u.id) AS id, u.email, l.first_login_at AS created_at,
           {NOTED} AS metadata
    FROM   service_users l
    JOIN   users u ON u.id = l.user_id
    LEFT   JOIN known_account_ids k ON k.organization_id = l.organization_id AND k.user_id = l.user_id
    WHERE  l.organization_id = %(organization_id)s AND l.service_id = %(service_id)s AND l.user_id = {NAMED_ACCOUNT}
"""
# The vendor knows people of customers who have signed in, by the id of their account.
_PERSON: Final = """
    SELECT   u.id AS account_id, u.id, u.email, own.first_sign_in_at AS created_at,
             coalesce((SELECT metadata
                       FROM   service_user_metadata
                       WHERE  organization_id = c.vendor_id AND service_id = c.service_id AND user_id = u.id), '{}')
                 AS metadata
    FROM     memberships cm
    JOIN     customer_users own  ON own.organization_id = cm.organization_id AND own.user_id = cm.user_id
    JOIN     service_customers c ON c.id = own.customer_id
    JOIN     users u             ON u.id = cm.user_id AND u.deactivated_at IS NULL
    WHERE    cm.user_id = %(id)s AND cm.confirmed_at IS NOT NULL AND cm.suspended_at IS NULL
      AND    c.vendor_id = %(organization_id)s AND c.service_id = %(service_id)s
    ORDER BY own.first_sign_in_at, c.id
    LIMIT    1
"""


class PostgresServiceUserMetadata(Aggregate):
    """The port `ServiceUserMetadata`."""

    def find(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> ServiceUser | None:
        held = self._found(organization_id, service_id, known_id)
        return held.user if held is not None else None

    def hold(self, organization_id: UUID, service_id: UUID, known_id: UUID) -> HeldUser | None:
        return self._found(
            organization_id, service_id, known_id, of_link="FOR KEY SHARE OF l", of_person="FOR KEY SHARE OF own"
        )

    def lock(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Mapping[str, Any]:
        return self._value(
            """
            INSERT INTO service_user_metadata AS d (service_id, organization_id, user_id, metadata)
            VALUES (%s, %s, %s, '{}')
            ON CONFLICT (service_id, user_id) DO UPDATE SET metadata = d.metadata
            RETURNING metadata
            """,
            (service_id, organization_id, user_id),
        )

    def save(self, organization_id: UUID, service_id: UUID, user_id: UUID, metadata: Mapping[str, Any]) -> None:
        self._connection.execute_later(
            """
            UPDATE service_user_metadata
            SET    metadata = %s
            WHERE  organization_id = %s AND service_id = %s AND user_id = %s
            """,
            (Jsonb(dict(metadata)), organization_id, service_id, user_id),
        )

    def _found(
        self,
        organization_id: UUID,
        service_id: UUID,
        known_id: UUID,
        *,
        of_link: LiteralString = "",
        of_person: LiteralString = "",
    ) -> HeldUser | None:
        values = {"organization_id": organization_id, "service_id": service_id, "id": known_id}
        return self._one(_held, f"{_LINK} {of_link}", values) or self._one(_held, f"{_PERSON} {of_person}", values)


def _held(*, account_id: UUID, **user: Any) -> HeldUser:
    return HeldUser(user=ServiceUser(**user), account_id=account_id)
