"""The customers of explained sign-ins, each read by unique keys."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from adapters.postgres.sessions.customer_contexts import IS_ASSIGNED, membership_of
from adapters.postgres.transaction import Aggregate
from core.ids import id_or_none
from core.platform.explained_customers import CustomerOfUser
from core.services.services import Service

FIND: Final = f"""
    SELECT    c.id, c.organization_id, o.slug, o.name,
              c.vendor_paused_at IS NOT NULL   AS is_paused_by_vendor,
              c.customer_paused_at IS NOT NULL AS is_paused_by_customer,
              c.shares_directory,
              own.user_id IS NOT NULL          AS has_signed_in,
              cm.id IS NOT NULL                AS is_member,
              cm.made_for IS NOT NULL          AS is_admitted,
              cm.confirmed_at IS NOT NULL      AS is_confirmed,
              cm.suspended_at IS NOT NULL      AS is_suspended,
              cm.id IS NOT NULL AND {IS_ASSIGNED} AS is_assigned
    FROM      service_customers c
    JOIN      services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
    JOIN      organizations o     ON o.id = c.organization_id
    LEFT JOIN {membership_of("%(user_id)s")} AS cm ON true
    LEFT JOIN customer_users own  ON own.customer_id = c.id AND own.user_id = %(user_id)s
    WHERE     c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.accepted_at IS NOT NULL
      AND     c.id = coalesce(%(id)s::uuid,
                              (SELECT named.id
                               FROM   organizations n
                               JOIN   service_customers named ON named.service_id = %(service_id)s
                                                             AND named.organization_id = n.id
                                                             AND named.accepted_at IS NOT NULL
                               WHERE  n.slug = %(slug)s))
"""


class PostgresExplainedCustomers(Aggregate):
    """The port `ExplainedCustomers`."""

    def find(self, service: Service, customer: str, user_id: UUID) -> CustomerOfUser | None:
        return self._one(
            CustomerOfUser,
            FIND,
            {
                "vendor_id": service.organization_id,
                "service_id": service.id,
                "id": id_or_none(customer),
                "slug": customer,
                "user_id": user_id,
            },
        )
