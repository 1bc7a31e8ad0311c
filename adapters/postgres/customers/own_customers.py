"""The customers that users have signed in for, in the table `customer_users`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.sessions.customer_contexts import IS_ACTIVE, IS_ASSIGNED, IS_WORKING
from adapters.postgres.transaction import Aggregate
from core.customers.own_customers import OwnCustomer

# Begins with the memberships of the user; each finds at most one customer of the service.
OF_USER: Final = f"""
    SELECT   c.id, c.organization_id, internal.id AS internal_id, co.slug, co.name, own.last_sign_in_at
    FROM     memberships cm
    JOIN     service_customers c ON (c.organization_id = cm.organization_id OR c.id = cm.made_for) AND {IS_ACTIVE}
    JOIN     services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
    JOIN     organizations co    ON co.id = c.organization_id AND {IS_WORKING}
    JOIN     customer_users own  ON own.customer_id = c.id AND own.user_id = cm.user_id
    LEFT     JOIN organizations internal ON internal.internal_of = c.id
    WHERE    cm.user_id = %(user_id)s AND cm.suspended_at IS NULL AND cm.confirmed_at IS NOT NULL
      AND    c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND {IS_ASSIGNED}
      AND    (cm.made_for IS NULL
              OR NOT EXISTS (SELECT FROM memberships x WHERE x.organization_id = co.id AND x.user_id = cm.user_id))
    ORDER BY own.last_sign_in_at DESC, c.id
    LIMIT    %(limit)s
"""


class PostgresOwnCustomers(Aggregate):
    """The port `OwnCustomers`."""

    def of_user(self, vendor_id: UUID, service_id: UUID, user_id: UUID, *, limit: int) -> Sequence[OwnCustomer]:
        return self._all(
            OwnCustomer,
            OF_USER,
            {"vendor_id": vendor_id, "service_id": service_id, "user_id": user_id, "limit": limit},
        )
