"""The uses of a service's roles: in `customer_assignments`, `service_assignments` and `customer_users`."""

from __future__ import annotations

from typing import Final

from adapters.postgres.customers.customers import service_values
from adapters.postgres.transaction import Aggregate
from core.customers.service_settings import RoleUses
from core.services.services import Service

# A role that was just made has an id as well, which nothing names.
USES: Final = """
    SELECT (SELECT count(*)
            FROM   (SELECT FROM service_customers c
                    JOIN   customer_assignments a ON a.customer_id = c.id AND a.organization_id = c.organization_id
                    WHERE  c.vendor_id = s.organization_id AND c.service_id = s.id
                      AND  (s.role_ids ->> %(name)s)::uuid = ANY (a.role_ids)
                    LIMIT  %(counted_max)s) AS one) AS assignments,
           (SELECT count(*)
            FROM   service_assignments a
            WHERE  a.organization_id = s.organization_id AND a.service_id = s.id
              AND  (s.role_ids ->> %(name)s)::uuid = ANY (a.role_ids)) AS own_assignments,
           (SELECT count(*)
            FROM   (SELECT FROM service_customers c
                    JOIN   customer_users u ON u.customer_id = c.id
                    WHERE  c.vendor_id = s.organization_id AND c.service_id = s.id
                      AND  (s.role_ids ->> %(name)s)::uuid = ANY (u.own_role_ids)
                    LIMIT  %(counted_max)s) AS one) AS people
    FROM   services s
    WHERE  s.organization_id = %(vendor_id)s AND s.id = %(service_id)s
"""


class PostgresServiceRoleUses(Aggregate):
    """The port `ServiceRoleUses`."""

    def count(self, service: Service, name: str, *, counted_max: int) -> RoleUses:
        return self._only(RoleUses, USES, service_values(service) | {"name": name, "counted_max": counted_max})
