"""The services that a person may open, and the customers that users have signed in for, by the indexes of their links.

The conditions of access are the same as for sessions and requests (`adapters/postgres/sessions/customer_contexts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.domains_in_force import IN_FORCE, in_force_at
from adapters.postgres.sessions.customer_contexts import (
    IS_ACTIVE,
    IS_ADMITTED,
    IS_ASSIGNED,
    IS_OPEN_TO_INDIVIDUALS,
    IS_WORKING,
)
from adapters.postgres.transaction import Aggregate
from core.customers.my_applications import OwnCustomer, Tile, TilePosition
from core.sessions.caller_limits import Confinement

# Before every customer: a service that the person opens as themselves.
_NO_CUSTOMER: Final = UUID(int=0)


def _is_in_mail_domain(organization_id: LiteralString) -> LiteralString:
    """Return whether an organization has proved the mail domain of a user `u`, whose the address is."""
    return f"""
        (%(has_address)s
         AND EXISTS (SELECT FROM domain_routes
                     WHERE  organization_id = {organization_id} AND domain = split_part(u.email, '@', 2)
                       AND  {IN_FORCE}))
    """


PAGE: Final = f"""
    WITH mine AS MATERIALIZED (
             SELECT m.organization_id, m.user_id, m.role, m.made_for
             FROM   memberships m
             JOIN   users u ON u.id = m.user_id
             WHERE  m.user_id = %(user_id)s AND m.suspended_at IS NULL
               AND  (%(within)s::uuid IS NULL OR m.organization_id = %(within)s)
               AND  (m.confirmed_at IS NOT NULL OR {_is_in_mail_domain("m.organization_id")})),
         linked AS MATERIALIZED (
             SELECT l.organization_id, l.service_id, l.origin
             FROM   service_users l
             JOIN   users u ON u.id = l.user_id
             WHERE  l.user_id = %(user_id)s
               AND  (%(within)s::uuid IS NULL OR l.organization_id = %(within)s)
               AND  (l.last_login_at IS NOT NULL OR {_is_in_mail_domain("l.organization_id")})),
         own AS MATERIALIZED (
             SELECT s.organization_id, s.id AS service_id
             FROM   services s
             JOIN   mine ON mine.organization_id = s.organization_id AND mine.made_for IS NULL
             UNION
             SELECT organization_id, service_id FROM linked),
         places AS MATERIALIZED (
             SELECT v.organization_id, v.id AS service_id, NULL::uuid AS customer_id,
                    NULL::uuid AS customer_organization_id, NULL::uuid AS internal_id, NULL::text AS customer_name
             FROM   own
             JOIN   services v         ON v.organization_id = own.organization_id AND v.id = own.service_id
             JOIN   users u            ON u.id = %(user_id)s
             CROSS  JOIN (SELECT NULL::uuid AS customer_id) AS s
             LEFT   JOIN memberships m ON m.organization_id = v.organization_id AND m.user_id = u.id
                                      AND m.suspended_at IS NULL AND m.confirmed_at IS NOT NULL
             WHERE  {IS_ADMITTED} AND {IS_OPEN_TO_INDIVIDUALS}
             UNION ALL
             SELECT v.organization_id, v.id, c.id, co.id,
                    (SELECT i.id FROM organizations i WHERE i.internal_of = c.id), co.name
             FROM   mine cm
             JOIN   service_customers c ON (c.organization_id = cm.organization_id OR c.id = cm.made_for)
                                       AND {IS_ACTIVE}
             JOIN   organizations co    ON co.id = c.organization_id AND {IS_WORKING}
             JOIN   services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
                                       AND v.customers <> 'none'
             WHERE  {IS_ASSIGNED}
               -- A membership goes before what the vendor has made, also a suspended one.
               AND  (cm.made_for IS NULL
                     OR NOT EXISTS (SELECT FROM memberships x
                                    WHERE  x.organization_id = co.id AND x.user_id = cm.user_id)))
    SELECT   lower(v.name) AS sort_name, v.id AS service_id, v.slug AS service_slug, v.name AS service_name,
             v.client_id, o.id AS organization_id, o.slug AS organization_slug, o.name AS organization_name,
             p.customer_id, p.customer_organization_id, p.internal_id, p.customer_name,
             v.customers <> 'none' AS serves_customers,
             v.initiate_login_uri IS NOT NULL AS has_start_page,
             coalesce(c.enabled, false)
                 AND EXISTS (SELECT FROM saml_certificates k
                             WHERE  k.organization_id = c.organization_id AND k.service_id = c.service_id
                               AND  k.is_active) AS has_saml,
             coalesce(c.members_only, true) AS members_only,
             EXISTS (SELECT FROM mine WHERE mine.organization_id = v.organization_id) AS is_member,
             EXISTS (SELECT FROM linked
                     WHERE  linked.service_id = v.id AND linked.origin = 'key') AS is_linked
    FROM     places p
    JOIN     services v      ON v.organization_id = p.organization_id AND v.id = p.service_id
    JOIN     organizations o ON o.id = v.organization_id AND o.status = 'active'
    LEFT     JOIN saml_configurations c ON c.organization_id = v.organization_id AND c.service_id = v.id
    -- A suspended member uses none of the organization's services, for no customer either.
    WHERE    NOT EXISTS (SELECT FROM memberships x
                         WHERE  x.organization_id = v.organization_id AND x.user_id = %(user_id)s
                           AND  x.suspended_at IS NOT NULL)
      AND    (%(after_service)s::uuid IS NULL
              OR (lower(v.name), v.id, coalesce(p.customer_id, %(no_customer)s))
                 > (%(after_name)s, %(after_service)s, %(after_customer)s))
    ORDER BY lower(v.name), v.id, coalesce(p.customer_id, %(no_customer)s)
    LIMIT    %(limit)s
"""


class PostgresMyApplications(Aggregate):
    """The port `MyApplications`."""

    def page(
        self,
        user_id: UUID,
        *,
        has_address: bool,
        limits: Confinement | None,
        after: TilePosition | None,
        limit: int,
    ) -> Sequence[Tile]:
        return self._all(
            Tile,
            PAGE,
            {
                "user_id": user_id,
                "has_address": has_address,
                "within": limits.organization_id if limits is not None else None,
                "after_name": after.name if after is not None else None,
                "after_service": after.service_id if after is not None else None,
                "after_customer": (after.customer_id or _NO_CUSTOMER) if after is not None else None,
                "no_customer": _NO_CUSTOMER,
                "limit": limit,
                **in_force_at(self._transaction.now),
            },
        )


# Begins with the memberships of the user; each finds at most one customer of the service.
CUSTOMERS_OF_USER: Final = f"""
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
            CUSTOMERS_OF_USER,
            {"vendor_id": vendor_id, "service_id": service_id, "user_id": user_id, "limit": limit},
        )
