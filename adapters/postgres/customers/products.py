"""The products of organizations, in the tables `service_customers` and `customer_assignments`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.services.assignments import assigned, assigning, given
from adapters.postgres.services.services import SELECT_SERVICE, service_row
from adapters.postgres.transaction import Aggregate
from core.customers.products import Product, ProductAccess, ProductsPage
from core.services.assignments import Assignment
from core.services.services import Service

_ASSIGNMENTS: Final = assigned(
    "customer_assignments", "a.organization_id = %(organization_id)s AND a.customer_id = c.id"
)
PRODUCT: Final = f"""
    c.id AS customer_id, c.vendor_id, v.slug AS vendor_slug, v.name AS vendor_name, c.service_id,
    s.slug AS service_slug, s.name AS service_name, s.client_id, c.external_id,
    c.accepted_at IS NOT NULL AS is_accepted, c.vendor_paused_at IS NOT NULL AS is_paused_by_vendor,
    c.customer_paused_at IS NOT NULL AS is_paused_by_customer, c.access, {_ASSIGNMENTS} AS assignments,
    c.shares_directory,
    ARRAY(SELECT   g.id
          FROM     directory_groups g
          WHERE    g.organization_id = %(organization_id)s AND g.id = ANY (c.groups)
          ORDER BY g.id) AS groups,
    c.hidden, c.vendor_setup, c.created_at
"""
_ASSIGN: Final = assigning("customer_assignments", "customer_id", "%(vendor_id)s")
# An offer that its organization may accept: it is open, and its vendor active.
_IS_OPEN: Final = """
    (c.organization_id = %(organization_id)s
     OR (c.offered_to = %(organization_id)s AND c.accepted_at IS NULL AND c.offer_expires_at > %(at)s
         AND v.status = 'active'))
"""
OF_ORGANIZATION: Final = f"""
    FROM      service_customers c
    JOIN      services s      ON s.organization_id = c.vendor_id AND s.id = c.service_id
    JOIN      organizations v ON v.id = c.vendor_id
    WHERE     {_IS_OPEN}
"""
# At least one row, for the total.
PRODUCTS: Final = f"""
    SELECT    total.products AS total, page.*
    FROM      (SELECT count(*) AS products {OF_ORGANIZATION}) AS total
    LEFT JOIN LATERAL (SELECT   {PRODUCT} {OF_ORGANIZATION}
                       ORDER BY c.accepted_at IS NULL, lower(s.name), c.id
                       LIMIT    %(limit)s OFFSET %(offset)s) AS page ON true
    ORDER BY  NOT page.is_accepted, lower(page.service_name), page.customer_id
"""
LOCK_SERVICE: Final = f"""
    {SELECT_SERVICE}
    FROM   services s
    JOIN   organizations v ON v.id = s.organization_id
    WHERE  s.organization_id = %(vendor_id)s AND s.client_id = %(client_id)s
      AND  ((s.customers = 'any' AND v.status = 'active')
            OR EXISTS (SELECT FROM service_customers c
                       WHERE  c.service_id = s.id AND {_IS_OPEN}))
    FOR UPDATE OF s
"""


class PostgresProducts(Aggregate):
    """The port `Products`."""

    def page(self, organization_id: UUID, *, at: datetime, limit: int, offset: int) -> ProductsPage:
        rows = self._rows(PRODUCTS, {"organization_id": organization_id, "at": at, "limit": limit, "offset": offset})
        totals = [row.pop("total") for row in rows]
        return ProductsPage(
            products=[product_row(**row) for row in rows if row["customer_id"] is not None], total=totals[0]
        )

    def find(self, organization_id: UUID, client_id: UUID, *, at: datetime) -> Product | None:
        return self._one(
            product_row,
            f"SELECT {PRODUCT} {OF_ORGANIZATION} AND s.client_id = %(client_id)s",
            {"organization_id": organization_id, "client_id": client_id, "at": at},
        )

    def lock_service(self, organization_id: UUID, vendor_id: UUID, client_id: UUID, *, at: datetime) -> Service | None:
        return self._one(
            service_row,
            LOCK_SERVICE,
            {"organization_id": organization_id, "vendor_id": vendor_id, "client_id": client_id, "at": at},
        )

    def accept(self, organization_id: UUID, product: Product, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE service_customers
            SET    organization_id = %(organization_id)s, accepted_at = %(at)s
            WHERE  offered_to = %(organization_id)s AND id = %(customer_id)s
            """,
            {"organization_id": organization_id, "customer_id": product.customer_id, "at": at},
        )

    def begin(self, organization_id: UUID, service: Service, customer_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            INSERT INTO service_customers (id, vendor_id, service_id, organization_id, accepted_at, created_at)
            VALUES (%(customer_id)s, %(vendor_id)s, %(service_id)s, %(organization_id)s, %(at)s, %(at)s)
            """,
            {
                "customer_id": customer_id,
                "vendor_id": service.organization_id,
                "service_id": service.id,
                "organization_id": organization_id,
                "at": at,
            },
        )

    def keep_slug(self, slug: str) -> None:
        self._connection.execute_later("INSERT INTO customer_slugs (slug) VALUES (%s) ON CONFLICT DO NOTHING", (slug,))

    def save(self, organization_id: UUID, product: Product) -> None:
        self._connection.execute_later(
            """
            UPDATE service_customers
            SET    access = %s, shares_directory = %s, groups = %s, hidden = %s, vendor_setup = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (
                product.access.value,
                product.shares_directory,
                product.groups,
                product.hidden,
                product.vendor_setup,
                organization_id,
                product.customer_id,
            ),
        )

    def assign(self, organization_id: UUID, product: Product) -> None:
        self._connection.execute_later(
            "DELETE FROM customer_assignments WHERE organization_id = %s AND customer_id = %s",
            (organization_id, product.customer_id),
        )
        self._connection.execute_later(
            _ASSIGN,
            {
                "customer_id": product.customer_id,
                "organization_id": organization_id,
                "vendor_id": product.vendor_id,
                "service_id": product.service_id,
                "given": given(product.assignments),
            },
        )

    def set_pause(self, organization_id: UUID, product: Product, paused_at: datetime | None) -> None:
        self._connection.execute_later(
            "UPDATE service_customers SET customer_paused_at = %s WHERE organization_id = %s AND id = %s",
            (paused_at, organization_id, product.customer_id),
        )

    def remove(self, organization_id: UUID, product: Product) -> None:
        self._connection.execute_later(
            """
            DELETE FROM service_customers
            WHERE  (organization_id = %(organization_id)s OR offered_to = %(organization_id)s)
              AND  id = %(customer_id)s
            """,
            {"organization_id": organization_id, "customer_id": product.customer_id},
        )


def product_row(*, access: str, assignments: list[dict[str, Any]], **columns: Any) -> Product:
    """Return the product of a row with the columns of `PRODUCT`."""
    return Product(access=ProductAccess(access), assignments=[Assignment(**one) for one in assignments], **columns)
