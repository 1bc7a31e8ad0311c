"""The products of an organization in the console, and the names of the people, roles and groups assigned to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.customers.products import OF_ORGANIZATION, PRODUCT, product_row
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.customers.found_products import ProductFigures
from core.customers.products import Product
from core.customers.relation_log import CustomerState
from core.positions import Position
from core.services.services import ServiceRole

if TYPE_CHECKING:
    from core.deferred import Deferred

_FOUND: Final = f"""
    {OF_ORGANIZATION}
      AND   (%(part)s = '' OR strpos(lower(s.name), %(part)s) > 0 OR strpos(s.slug, %(part)s) > 0
             OR strpos(lower(v.name), %(part)s) > 0 OR strpos(v.slug, %(part)s) > 0)
      AND   (%(state)s::text IS NULL
             OR %(state)s = CASE WHEN c.accepted_at IS NULL THEN 'offered'
                                 WHEN c.vendor_paused_at IS NULL AND c.customer_paused_at IS NULL THEN 'active'
                                 ELSE 'paused' END)
"""
PAGE: Final = f"""
    SELECT   {PRODUCT} {_FOUND}
      AND    (%(after_at)s::timestamptz IS NULL OR (c.created_at, c.id) < (%(after_at)s, %(after_id)s))
    ORDER BY c.created_at DESC, c.id DESC
    LIMIT    %(limit)s
"""
COUNT: Final = f"SELECT count(*) FROM (SELECT {_FOUND} LIMIT %(counted_max)s) AS counted"
FIGURES: Final = f"""
    SELECT (SELECT count(*)
            FROM   (SELECT FROM customer_users u
                    WHERE  u.organization_id = %(organization_id)s AND u.customer_id = %(customer_id)s
                    LIMIT  %(counted_max)s) AS one) AS users,
           (SELECT count(*)
            FROM   (SELECT FROM service_customers c
                    JOIN   sessions s ON s.customer_id = c.id
                    WHERE  c.organization_id = %(organization_id)s AND c.id = %(customer_id)s AND {IS_LIVE}
                    LIMIT  %(counted_max)s) AS one) AS sessions
"""
SERVICE_ROLES: Final = f"""
    SELECT role ->> 'name' AS name, role ->> 'title' AS title, role ->> 'description' AS description
    FROM   (SELECT s.roles {OF_ORGANIZATION} AND c.id = %(customer_id)s) AS of_service,
           jsonb_array_elements(of_service.roles) WITH ORDINALITY AS listed (role, place)
    ORDER  BY place
"""


class PostgresFoundProducts(Aggregate):
    """The port `FoundProducts`."""

    def page(
        self,
        organization_id: UUID,
        *,
        part: str,
        state: CustomerState | None,
        at: datetime,
        after: Position | None,
        limit: int,
    ) -> Sequence[Product]:
        place = {
            "after_at": after.at if after is not None else None,
            "after_id": after.id if after is not None else None,
        }
        values = _filters(organization_id, part, state, at) | place | {"limit": limit}
        return self._all(product_row, PAGE, values)

    def defer_count(
        self, organization_id: UUID, *, part: str, state: CustomerState | None, at: datetime, counted_max: int
    ) -> Deferred[int]:
        return self._defer_value_or_none(
            COUNT, _filters(organization_id, part, state, at) | {"counted_max": counted_max}
        )

    def figures(self, organization_id: UUID, customer_id: UUID, *, counted_max: int) -> ProductFigures:
        return self._only(
            ProductFigures,
            FIGURES,
            {
                "organization_id": organization_id,
                "customer_id": customer_id,
                "counted_max": counted_max,
                **live_at(self._transaction.now),
            },
        )

    def service_roles(self, organization_id: UUID, product: Product) -> Sequence[ServiceRole]:
        values = {
            "organization_id": organization_id,
            "customer_id": product.customer_id,
            "at": self._transaction.now,
        }
        return self._all(ServiceRole, SERVICE_ROLES, values)


def _filters(organization_id: UUID, part: str, state: CustomerState | None, at: datetime) -> dict[str, Any]:
    return {
        "organization_id": organization_id,
        "part": part,
        "state": state.value if state is not None else None,
        "at": at,
    }
