"""Customers that have ended and can be restored, in the table `service_customers`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.customers.customers import service_values
from adapters.postgres.transaction import Aggregate
from core.customers.made_customers import EndedCustomer
from core.services.services import Service

_ENDED: Final = """
    SELECT c.id, o.id AS organization_id, o.name, c.ended_external_id AS external_id, c.ended_at, o.deletes_at
    FROM   service_customers c
    JOIN   organizations o ON o.id = c.ended_organization_id AND o.status = 'deleting' AND o.deletes_at > %(at)s
    WHERE  c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s
"""
OF_SERVICE: Final = f"{_ENDED} ORDER BY c.ended_at DESC, c.id LIMIT %(limit)s"
FIND: Final = f"{_ENDED} AND c.id = %(customer_id)s"
_LOCK: Final = f"{FIND} FOR NO KEY UPDATE OF o, c"


class PostgresEndedCustomers(Aggregate):
    """The port `EndedCustomers`."""

    def of_service(self, service: Service, *, at: datetime, limit: int) -> Sequence[EndedCustomer]:
        return self._all(EndedCustomer, OF_SERVICE, service_values(service) | {"at": at, "limit": limit})

    def find(self, service: Service, customer_id: UUID, *, at: datetime) -> EndedCustomer | None:
        return self._one(EndedCustomer, FIND, service_values(service) | {"at": at, "customer_id": customer_id})

    def lock(self, service: Service, customer_id: UUID, *, at: datetime) -> EndedCustomer | None:
        return self._one(EndedCustomer, _LOCK, service_values(service) | {"at": at, "customer_id": customer_id})

    def restore(self, service: Service, customer_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE service_customers
            SET    organization_id = ended_organization_id, external_id = ended_external_id, accepted_at = %s,
                   ended_at = NULL, ended_organization_id = NULL, ended_external_id = NULL
            WHERE  vendor_id = %s AND service_id = %s AND id = %s
            """,
            (self._transaction.now, service.organization_id, service.id, customer_id),
        )
