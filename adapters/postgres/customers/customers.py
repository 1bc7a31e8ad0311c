"""The customers of services, in the table `service_customers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import values
from adapters.postgres.transaction import Aggregate
from core.customers.customers import CustomersPage, MadeCustomer, ServiceCustomer, ServiceOffer, TakenNames
from core.customers.relation_log import Relation
from core.deletions import AgedRows
from core.services.services import Service

# The organization of an offer is not read, so that nothing tells whether there is one.
CUSTOMER: Final = """
    c.id, c.organization_id, coalesce(o.slug, c.offered_slug) AS slug, o.name, c.external_id,
    c.accepted_at IS NOT NULL AS is_accepted, c.vendor_paused_at IS NOT NULL AS is_paused_by_vendor,
    c.customer_paused_at IS NOT NULL AS is_paused_by_customer, c.shares_directory,
    coalesce(o.is_unclaimed, false) AS is_unclaimed, c.vendor_setup,
    EXISTS (SELECT FROM organizations i WHERE i.internal_of = c.id) AS has_internal,
    date_trunc('hour', c.last_sign_in_at) AS last_sign_in_at, c.created_at, c.metadata
"""
OF_SERVICE: Final = """
    FROM      service_customers c
    LEFT JOIN organizations o ON o.id = c.organization_id
    WHERE     c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s
      AND     (c.accepted_at IS NOT NULL OR c.offer_expires_at > %(at)s)
"""
# What the logs of both sides name of customers that end. An offer names no organization.
_OF_ENDED: Final = """
    SELECT   e.id AS customer_id, e.vendor_id, v.slug AS vendor_slug, v.name AS vendor_name, s.slug AS service_slug,
             s.name AS service_name, s.client_id, e.external_id, o.id AS customer_organization_id,
             o.slug AS customer_slug, o.name AS customer_name
    FROM     ended e
    JOIN     services s      ON s.organization_id = e.vendor_id AND s.id = e.service_id
    JOIN     organizations v ON v.id = e.vendor_id
    JOIN     organizations o ON o.id = e.organization_id
    ORDER BY e.id
"""
# Customers that have ended already stay while they can be restored.
_END_OF_VENDOR: Final = f"""
    WITH ended AS (
        DELETE FROM service_customers
        WHERE  vendor_id = %s AND ended_at IS NULL
        RETURNING id, vendor_id, service_id, organization_id, external_id)
    {_OF_ENDED}
"""
# From then on no one can claim or find the organization: it is deleted like one that its owner has deleted.
_END_UNCLAIMED: Final = f"""
    WITH ended AS (
        UPDATE service_customers c
        SET    organization_id = NULL, external_id = NULL, accepted_at = NULL, ended_at = %(at)s,
               ended_organization_id = c.organization_id, ended_external_id = c.external_id
        FROM   organizations o
        WHERE  o.id = c.organization_id AND o.is_unclaimed AND c.vendor_id = %(vendor_id)s
          AND  (%(customer_ids)s::uuid[] IS NULL OR c.id = ANY (%(customer_ids)s))
        RETURNING c.id, c.vendor_id, c.service_id, c.ended_organization_id AS organization_id,
                  c.ended_external_id AS external_id),
    closed AS (
        UPDATE organizations
        SET    status = 'deleting', status_before_deletion = status, deletes_at = %(deletes_at)s, updated_at = %(at)s
        WHERE  id IN (SELECT organization_id FROM ended)),
    withdrawn AS (
        DELETE FROM customer_claims WHERE customer_id IN (SELECT id FROM ended))
    {_OF_ENDED}
"""
_END_OF_CUSTOMER: Final = f"""
    WITH ended AS (
        DELETE FROM service_customers
        WHERE  organization_id = %s
        RETURNING id, vendor_id, service_id, organization_id, external_id)
    {_OF_ENDED}
"""
# An offer names the slug alone: nothing tells whether there is such an organization.
_END_THESE: Final = """
    WITH ended AS (
        DELETE FROM service_customers
        WHERE  vendor_id = %s AND service_id = %s AND id = ANY (%s) AND ended_at IS NULL
        RETURNING id, vendor_id, service_id, organization_id, offered_slug, external_id)
    SELECT    e.id AS customer_id, e.vendor_id, v.slug AS vendor_slug, v.name AS vendor_name, s.slug AS service_slug,
              s.name AS service_name, s.client_id, e.external_id, o.id AS customer_organization_id,
              coalesce(o.slug, e.offered_slug) AS customer_slug, o.name AS customer_name
    FROM      ended e
    JOIN      services s      ON s.organization_id = e.vendor_id AND s.id = e.service_id
    JOIN      organizations v ON v.id = e.vendor_id
    LEFT JOIN organizations o ON o.id = e.organization_id
    ORDER BY  e.id
"""
FOUND: Final = f"""
    {OF_SERVICE}
      AND     (%(part)s = '' OR strpos(coalesce(o.slug, c.offered_slug), %(part)s) > 0
               OR strpos(lower(o.name), %(part)s) > 0 OR strpos(lower(c.external_id), %(part)s) > 0)
"""
# At least one row, for the total.
PAGE: Final = f"""
    SELECT    total.customers AS total, page.*
    FROM      (SELECT count(*) AS customers {FOUND}) AS total
    LEFT JOIN LATERAL (SELECT   {CUSTOMER} {FOUND}
                       ORDER BY c.created_at DESC, c.id DESC
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  page.created_at DESC, page.id DESC
"""


class PostgresServiceCustomers(Aggregate):
    """The port `ServiceCustomers`."""

    def has_any(self, service: Service) -> bool:
        return self._finds_any(
            """
            SELECT FROM service_customers
            WHERE  vendor_id = %s AND service_id = %s AND accepted_at IS NOT NULL
            LIMIT  1
            """,
            (service.organization_id, service.id),
        )

    def end_offers(self, service: Service) -> None:
        self._connection.execute_later(
            """
            DELETE FROM service_customers
            WHERE  vendor_id = %s AND service_id = %s AND accepted_at IS NULL AND ended_at IS NULL
            """,
            (service.organization_id, service.id),
        )

    def page(self, service: Service, *, part: str, at: datetime, limit: int, offset: int) -> CustomersPage:
        customers, total = self._page_of(
            ServiceCustomer, PAGE, service_values(service) | {"part": part, "at": at, "limit": limit, "offset": offset}
        )
        return CustomersPage(customers=customers, total=total)

    def find(self, service: Service, customer_id: UUID, *, at: datetime) -> ServiceCustomer | None:
        return self._one(
            ServiceCustomer,
            f"SELECT {CUSTOMER} {OF_SERVICE} AND c.id = %(customer_id)s",
            service_values(service) | {"customer_id": customer_id, "at": at},
        )

    def keep(self, service: Service, customer_id: UUID) -> None:
        self._connection.execute_later(
            """
            SELECT FROM service_customers WHERE vendor_id = %s AND service_id = %s AND id = %s FOR KEY SHARE
            """,
            (service.organization_id, service.id, customer_id),
        )

    def lock_services(self, organization_id: UUID) -> None:
        self._connection.execute_later("SELECT FROM services WHERE organization_id = %s FOR UPDATE", (organization_id,))

    def taken(
        self, service: Service, *, slug: str | None, external_id: str | None, other_than: UUID | None, at: datetime
    ) -> TakenNames:
        values = service_values(service) | {
            "slug": slug,
            "external_id": external_id,
            "other_than": other_than,
            "at": at,
        }
        # An offer that stays meanwhile keeps its slug and its name.
        if self._transaction.may_delete(AgedRows.EXPIRED_OFFERS):
            self._connection.execute_later(
                """
                DELETE FROM service_customers
                WHERE  vendor_id = %(vendor_id)s AND service_id = %(service_id)s AND accepted_at IS NULL
                  AND  offer_expires_at <= %(at)s
                  AND  (offered_slug = %(slug)s::text OR external_id = %(external_id)s::text)
                """,
                values,
            )
        return self._only(
            TakenNames,
            """
            SELECT EXISTS (SELECT FROM service_customers c
                           JOIN   organizations o ON o.id = c.organization_id
                           WHERE  c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s
                             AND  o.slug = %(slug)s::text) AS is_customer,
                   EXISTS (SELECT FROM service_customers
                           WHERE  vendor_id = %(vendor_id)s AND service_id = %(service_id)s AND accepted_at IS NULL
                             AND  offered_slug = %(slug)s::text) AS is_offered,
                   EXISTS (SELECT FROM service_customers
                           WHERE  vendor_id = %(vendor_id)s AND service_id = %(service_id)s
                             AND  external_id = %(external_id)s::text
                             AND  id IS DISTINCT FROM %(other_than)s::uuid) AS is_external_id
            """,
            values,
        )

    def offer(self, service: Service, offer: ServiceOffer) -> None:
        self._connection.execute_later(
            """
            INSERT INTO service_customers (id, vendor_id, service_id, offered_slug, offered_to, offer_expires_at,
                                           external_id, created_at)
            SELECT    %(id)s, s.organization_id, s.id, %(slug)s, o.id, %(expires_at)s, %(external_id)s, %(created_at)s
            FROM      services s
            LEFT JOIN organizations o ON o.slug = %(slug)s AND o.status <> 'deleting'
            WHERE     s.organization_id = %(vendor_id)s AND s.id = %(service_id)s
            """,
            service_values(service)
            | {
                "id": offer.id,
                "slug": offer.slug,
                "expires_at": offer.expires_at,
                "external_id": offer.external_id,
                "created_at": offer.created_at,
            },
        )

    def make(self, service: Service, made: MadeCustomer) -> None:
        self._connection.execute_later(
            """
            INSERT INTO service_customers (id, vendor_id, service_id, organization_id, is_made, accepted_at,
                                           external_id, created_at)
            VALUES (%(id)s, %(vendor_id)s, %(service_id)s, %(organization_id)s, true, %(created_at)s, %(external_id)s,
                    %(created_at)s)
            """,
            service_values(service) | values(made),
        )

    def count_unclaimed(self, vendor_id: UUID) -> int:
        return self._value(
            """
            SELECT count(*)
            FROM   service_customers c
            JOIN   organizations o ON o.id = coalesce(c.organization_id, c.ended_organization_id)
            WHERE  c.vendor_id = %s AND c.is_made AND o.is_unclaimed
            """,
            (vendor_id,),
        )

    def relation_of(self, internal_id: UUID) -> Relation | None:
        return self._one(
            Relation,
            """
            SELECT c.id AS customer_id, c.vendor_id, v.slug AS vendor_slug, v.name AS vendor_name,
                   s.slug AS service_slug, s.name AS service_name, s.client_id, c.external_id,
                   o.id AS customer_organization_id, o.slug AS customer_slug, o.name AS customer_name
            FROM   organizations i
            JOIN   service_customers c ON c.id = i.internal_of
            JOIN   services s          ON s.organization_id = c.vendor_id AND s.id = c.service_id
            JOIN   organizations v     ON v.id = c.vendor_id
            JOIN   organizations o     ON o.id = c.organization_id
            WHERE  i.id = %s
            """,
            (internal_id,),
        )

    def set_external_id(self, service: Service, customer_id: UUID, external_id: str | None) -> None:
        self._connection.execute_later(
            "UPDATE service_customers SET external_id = %s WHERE vendor_id = %s AND service_id = %s AND id = %s",
            (external_id, service.organization_id, service.id, customer_id),
        )

    def set_metadata(self, service: Service, customer_id: UUID, metadata: Mapping[str, Any]) -> None:
        self._connection.execute_later(
            "UPDATE service_customers SET metadata = %s WHERE vendor_id = %s AND service_id = %s AND id = %s",
            (Jsonb(dict(metadata)), service.organization_id, service.id, customer_id),
        )

    def set_vendor_pause(self, service: Service, customer_id: UUID, paused_at: datetime | None) -> None:
        self._connection.execute_later(
            "UPDATE service_customers SET vendor_paused_at = %s WHERE vendor_id = %s AND service_id = %s AND id = %s",
            (paused_at, service.organization_id, service.id, customer_id),
        )

    def remove(self, service: Service, customer_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM service_customers WHERE vendor_id = %s AND service_id = %s AND id = %s",
            (service.organization_id, service.id, customer_id),
        )

    def begun_since(self, service: Service, since: datetime, *, limit: int) -> Sequence[UUID]:
        return self._values(
            """
            SELECT   id
            FROM     service_customers
            WHERE    vendor_id = %s AND service_id = %s AND offered_slug IS NULL AND NOT is_made AND accepted_at >= %s
            ORDER BY id
            LIMIT    %s
            """,
            (service.organization_id, service.id, since, limit),
        )

    def end_these(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[Relation]:
        return self._all(Relation, _END_THESE, (service.organization_id, service.id, list(customer_ids)))

    def end_unclaimed(
        self, vendor_id: UUID, customer_ids: Sequence[UUID] | None, *, deletes_at: datetime
    ) -> Sequence[Relation]:
        return self._all(
            Relation,
            _END_UNCLAIMED,
            {
                "vendor_id": vendor_id,
                "customer_ids": list(customer_ids) if customer_ids is not None else None,
                "at": self._transaction.now,
                "deletes_at": deletes_at,
            },
        )

    def end_all_of(self, organization_id: UUID, *, deletes_at: datetime) -> Sequence[Relation]:
        unclaimed = self.end_unclaimed(organization_id, None, deletes_at=deletes_at)
        of_vendor = self._all(Relation, _END_OF_VENDOR, (organization_id,))
        return [*unclaimed, *of_vendor, *self._all(Relation, _END_OF_CUSTOMER, (organization_id,))]


def service_values(service: Service) -> dict[str, Any]:
    """Return the values of `OF_SERVICE` and `FOUND` that name a service."""
    return {"vendor_id": service.organization_id, "service_id": service.id}
