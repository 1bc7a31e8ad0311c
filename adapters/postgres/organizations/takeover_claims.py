"""Customers whose organizations were claimed with the power of a takeover, in `service_customers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.organizations.takeover_claims import ClaimedCustomer
from core.services.services import Service


class PostgresTakeoverClaims(Aggregate):
    """The port `TakeoverClaims`."""

    def claimed_at(self, organization_ids: Sequence[UUID], *, since: datetime) -> Mapping[UUID, datetime]:
        if not organization_ids:
            return {}
        rows = self._rows(
            "SELECT id, claimed_at FROM organizations WHERE id = ANY (%s) AND claimed_at >= %s",
            (list(organization_ids), since),
        )
        return {row["id"]: row["claimed_at"] for row in rows}

    def claimed_by_link(self, service: Service, customer_id: UUID, *, mailed_at: datetime) -> UUID | None:
        return self._value_or_none(
            """
            SELECT c.organization_id
            FROM   customer_claims k
            JOIN   service_customers c ON c.vendor_id = k.vendor_id AND c.id = k.customer_id
            WHERE  k.vendor_id = %s AND k.customer_id = %s AND k.created_at = %s AND k.claimed_at IS NOT NULL
            """,
            (service.organization_id, customer_id, mailed_at),
        )

    def customers_of(self, organization_id: UUID) -> list[ClaimedCustomer]:
        return list(
            self._all(
                ClaimedCustomer,
                """
                SELECT   c.id AS customer_id, c.vendor_id, s.client_id, s.slug AS service_slug, c.external_id,
                         c.made_name
                FROM     service_customers c
                JOIN     services s ON s.organization_id = c.vendor_id AND s.id = c.service_id
                WHERE    c.organization_id = %s AND c.made_name IS NOT NULL
                ORDER BY c.id
                """,
                (organization_id,),
            )
        )

    def move(self, customer: ClaimedCustomer, organization_id: UUID, new_id: UUID) -> None:
        values = {
            "customer_id": customer.customer_id,
            "vendor_id": customer.vendor_id,
            "organization_id": organization_id,
            "new_id": new_id,
        }
        for statement in (
            "DELETE FROM customer_claims WHERE vendor_id = %(vendor_id)s AND customer_id = %(customer_id)s",
            """
            DELETE FROM customer_assignments
            WHERE  organization_id = %(organization_id)s AND customer_id = %(customer_id)s
            """,
            """
            DELETE FROM customer_users
            WHERE  organization_id = %(organization_id)s AND customer_id = %(customer_id)s
            """,
            """
            UPDATE service_customers
            SET    organization_id = %(new_id)s, made_name = NULL, vendor_setup = '{}', customer_paused_at = NULL,
                   access = 'members', shares_directory = false, groups = '{}', hidden = false
            WHERE  organization_id = %(organization_id)s AND id = %(customer_id)s
            """,
        ):
            self._connection.execute_later(statement, values)
