"""The customers of a service in the console, each page a part of the index of their order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.customers.customers import CUSTOMER, FOUND, service_values
from adapters.postgres.customers.setup_progress import IS_FAILING, IS_SETTING_UP, trouble_values
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.customers.customers import ServiceCustomer
from core.customers.found_customers import CustomerCounts, CustomerFigures, CustomerFilter, NamedCustomer
from core.positions import Position
from core.services.services import Service

_OFFERED: Final = "c.accepted_at IS NULL"
_ACTIVE: Final = "c.accepted_at IS NOT NULL AND c.vendor_paused_at IS NULL AND c.customer_paused_at IS NULL"
_PAUSED: Final = "c.accepted_at IS NOT NULL AND (c.vendor_paused_at IS NOT NULL OR c.customer_paused_at IS NOT NULL)"
_UNCLAIMED: Final = "o.is_unclaimed"
_SETTING_UP: Final = f"{_ACTIVE} AND {IS_SETTING_UP}"
# What is costly to find out is asked only where it is filtered by.
_IN_STATE: Final = f"""
    CASE %(state)s::text
    WHEN ''           THEN true
    WHEN 'offered'    THEN {_OFFERED}
    WHEN 'unclaimed'  THEN {_UNCLAIMED}
    WHEN 'setting_up' THEN {_SETTING_UP}
    WHEN 'active'     THEN {_ACTIVE}
    WHEN 'paused'     THEN {_PAUSED}
    WHEN 'failing'    THEN {IS_FAILING}
    END
"""
PAGE: Final = f"""
    SELECT   {CUSTOMER} {FOUND}
      AND    (%(offers)s OR c.accepted_at IS NOT NULL) AND {_IN_STATE}
      AND    (%(after_at)s::timestamptz IS NULL OR (c.created_at, c.id) < (%(after_at)s, %(after_id)s))
    ORDER BY c.created_at DESC, c.id DESC
    LIMIT    %(limit)s
"""
# While a name is typed, at most this many customers of a vendor are read, whatever the name.
NAMED: Final = """
    WITH looked_at AS (
        SELECT id, service_id, organization_id, offered_slug, accepted_at, offer_expires_at
        FROM   service_customers
        WHERE  vendor_id = %(vendor_id)s
        LIMIT  %(looked_at_max)s),
    candidates AS (
        SELECT * FROM looked_at
        UNION
        SELECT c.id, c.service_id, c.organization_id, c.offered_slug, c.accepted_at, c.offer_expires_at
        FROM   service_customers c
        JOIN   organizations o ON o.id = c.organization_id
        WHERE  c.vendor_id = %(vendor_id)s AND o.slug = %(part)s)
    SELECT    c.id, coalesce(o.slug, c.offered_slug) AS slug, o.name, s.slug AS service_slug, s.name AS service_name
    FROM      candidates c
    JOIN      services s      ON s.organization_id = %(vendor_id)s AND s.id = c.service_id
    LEFT JOIN organizations o ON o.id = c.organization_id
    WHERE     (c.accepted_at IS NOT NULL OR c.offer_expires_at > %(at)s)
      AND     (strpos(coalesce(o.slug, c.offered_slug), %(part)s) > 0 OR strpos(lower(o.name), %(part)s) > 0)
    ORDER BY  slug, c.id
    LIMIT     %(limit)s
"""
COUNT: Final = f"SELECT count(*) FROM (SELECT {FOUND} AND {_IN_STATE} LIMIT %(counted_max)s) AS counted"
COUNTS: Final = f"""
    SELECT count(*) FILTER (WHERE {_OFFERED})    AS offered,
           count(*) FILTER (WHERE {_UNCLAIMED})  AS unclaimed,
           count(*) FILTER (WHERE {_SETTING_UP}) AS setting_up,
           count(*) FILTER (WHERE {_ACTIVE})     AS active,
           count(*) FILTER (WHERE {_PAUSED})     AS paused,
           count(*) FILTER (WHERE {IS_FAILING})  AS failing
    {FOUND}
"""
FIGURES: Final = f"""
    SELECT (SELECT count(*)
            FROM   (SELECT FROM customer_users u
                    WHERE  u.customer_id = c.id
                    LIMIT  %(counted_max)s) AS one) AS users,
           (SELECT count(*)
            FROM   (SELECT FROM sessions s
                    WHERE  s.customer_id = c.id AND {IS_LIVE}
                    LIMIT  %(counted_max)s) AS one) AS sessions
    FROM   service_customers c
    WHERE  c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.id = %(customer_id)s
"""


class PostgresFoundCustomers(Aggregate):
    """The port `FoundCustomers`."""

    def page(
        self,
        service: Service,
        *,
        part: str,
        at: datetime,
        after: Position | None,
        limit: int,
        state: CustomerFilter | None = None,
        offers: bool = True,
    ) -> Sequence[ServiceCustomer]:
        place = {
            "after_at": after.at if after is not None else None,
            "after_id": after.id if after is not None else None,
        }
        values = _found_values(service, part, state, at) | place | {"limit": limit, "offers": offers}
        return self._all(ServiceCustomer, PAGE, values)

    def named(
        self, organization_id: UUID, *, part: str, at: datetime, looked_at_max: int, limit: int
    ) -> Sequence[NamedCustomer]:
        values = {
            "vendor_id": organization_id,
            "part": part,
            "at": at,
            "looked_at_max": looked_at_max,
            "limit": limit,
        }
        return self._all(NamedCustomer, NAMED, values)

    def count(
        self, service: Service, *, part: str, at: datetime, counted_max: int, state: CustomerFilter | None = None
    ) -> int:
        return self._value(COUNT, _found_values(service, part, state, at) | {"counted_max": counted_max})

    def counts(self, service: Service, *, part: str, at: datetime) -> CustomerCounts:
        return self._only(CustomerCounts, COUNTS, service_values(service) | {"part": part} | trouble_values(at))

    def figures(self, service: Service, customer_id: UUID, *, counted_max: int) -> CustomerFigures:
        values = {"customer_id": customer_id, "counted_max": counted_max, **live_at(self._transaction.now)}
        return self._only(CustomerFigures, FIGURES, service_values(service) | values)


def _found_values(service: Service, part: str, state: CustomerFilter | None, at: datetime) -> dict[str, Any]:
    return service_values(service) | {"part": part, "state": state.value if state else ""} | trouble_values(at)
