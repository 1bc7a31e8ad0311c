"""Who was active for customers of services, in the table `customer_active_people`."""

from __future__ import annotations

from datetime import date
from typing import Final
from uuid import UUID

from adapters.postgres.customers.customers import service_values
from adapters.postgres.transaction import Aggregate
from core.customers.usage import CustomerUsage, ServiceUsage
from core.services.services import Service

OF_CUSTOMER: Final = """
    SELECT count(*)
    FROM   service_customers c
    JOIN   customer_active_people p ON p.customer_id = c.id AND p.month = %(month)s
    WHERE  c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.id = %(customer_id)s
"""
# Without customers that have ended and can be restored, which nothing else shows either.
OF_CUSTOMERS: Final = """
    SELECT   c.id AS customer_id, c.external_id, count(*) AS active_people
    FROM     service_customers c
    JOIN     customer_active_people p ON p.customer_id = c.id AND p.month = %(month)s
    WHERE    c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.accepted_at IS NOT NULL
    GROUP BY c.id
    ORDER BY count(*) DESC, c.id
    LIMIT    %(limit)s
"""
OF_SERVICE: Final = """
    SELECT count(DISTINCT p.user_id)
    FROM   service_customers c
    JOIN   customer_active_people p ON p.customer_id = c.id AND p.month = %(month)s
    WHERE  c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.accepted_at IS NOT NULL
"""


class PostgresCustomerUsages(Aggregate):
    """The port `CustomerUsages`."""

    def of_customer(self, service: Service, customer_id: UUID, month: date) -> int:
        return self._value(OF_CUSTOMER, service_values(service) | {"customer_id": customer_id, "month": month})

    def of_service(self, service: Service, month: date, *, limit: int) -> ServiceUsage:
        values = service_values(service) | {"month": month, "limit": limit}
        return ServiceUsage(
            customers=self._all(CustomerUsage, OF_CUSTOMERS, values), active_people=self._value(OF_SERVICE, values)
        )
