"""The customers of a service that are open to a user, as a part of what `places.py` reads, and who came in for one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.affiliations import DIRECTORY_NAME
from adapters.postgres.domains_in_force import IN_FORCE
from adapters.postgres.sessions.customer_contexts import (
    CUSTOMER_ROLE,
    IS_ACTIVE,
    IS_ASSIGNED,
    IS_OF_CUSTOMER,
    IS_WORKING,
    ROLES,
)
from adapters.postgres.transaction import Aggregate
from core.sessions.customer_contexts import month_of
from core.sessions.mfa_methods import MfaMethods
from core.sign_in.customer_choices import CustomersOfUser, CustomerStanding, SuspendedCustomer

# The memberships by which a user `u` may sign in to a service `v` for customers; each finds at most one customer. Where
# a membership and the vendor's own setup both admit the user, the membership counts.
_ID: Final = """
    'id', c.id, 'organization_id', co.id, 'slug', co.slug,
    'internal_id', internal.id
"""
_MEMBERSHIPS: Final = f"""
    FROM   memberships cm
    JOIN   service_customers c      ON c.service_id = v.id
                                   AND (c.organization_id = cm.organization_id OR c.id = cm.made_for) AND {IS_ACTIVE}
    JOIN   organizations co         ON co.id = c.organization_id AND {IS_WORKING}
    LEFT   JOIN organizations internal ON internal.internal_of = c.id
    LEFT   JOIN customer_users own  ON own.customer_id = c.id AND own.user_id = cm.user_id
    WHERE  cm.user_id = u.id AND {IS_ASSIGNED}
      AND  (cm.made_for IS NULL
            OR NOT EXISTS (SELECT FROM memberships x WHERE x.organization_id = co.id AND x.user_id = u.id))
"""
_STANDINGS: Final = f"""
    SELECT jsonb_agg(jsonb_build_object(
               {_ID}, 'name', co.name, 'is_admitted', cm.made_for IS NOT NULL,
               'is_confirmed', cm.confirmed_at IS NOT NULL, 'is_owned', cm.role = 'owner',
               'is_in_mail_domain', EXISTS (SELECT FROM domain_routes
                                            WHERE  organization_id = co.id AND domain = split_part(u.email, '@', 2)
                                              AND  {IN_FORCE}),
               'last_sign_in_at', own.last_sign_in_at,
               'requires_mfa', co.mfa_required, 'mfa_methods', co.mfa_methods,
               'device_trust_days', co.device_trust_days,
               'connection_id', (SELECT   min(id::text)
                                 FROM     upstream_connections
                                 WHERE    organization_id IN (co.id, internal.id) AND enabled
                                 HAVING   count(*) = 1))
                     ORDER BY own.last_sign_in_at DESC NULLS LAST, lower(co.name), c.id)
    {_MEMBERSHIPS} AND cm.suspended_at IS NULL
"""
# A membership that its user has never confirmed is not shown.
_SUSPENDED: Final = f"""
    SELECT jsonb_agg(jsonb_build_object({_ID}))
    {_MEMBERSHIPS} AND cm.suspended_at IS NOT NULL AND cm.confirmed_at IS NOT NULL
"""
# Of a service `s`, an organization `o` and its membership `m` of the user, as `_PLACE` of `places.py` names them.
CUSTOMERS_OF_USER: Final = f"""
    SELECT jsonb_build_object(
               'standings', coalesce(({_STANDINGS}), '[]'),
               'suspended', coalesce(({_SUSPENDED}), '[]'),
               'is_of_customer', {IS_OF_CUSTOMER},
               'is_of_vendor', m.id IS NOT NULL AND m.suspended_at IS NULL AND m.confirmed_at IS NOT NULL,
               'is_vendor_owned', coalesce(m.role = 'owner', false),
               'has_come_alone', EXISTS (SELECT FROM service_users
                                         WHERE  service_id = v.id AND user_id = u.id AND last_login_at IS NOT NULL))
    FROM   users u
    JOIN   services v ON v.organization_id = o.id AND v.id = s.id
    WHERE  u.id = %(user_id)s
"""

# The data by which the vendor knows a member `cm` with the account `u` at a customer `c`. They come from the directory
# of the customer only where the customer shares it; for people that the vendor admits, from its own directory.
NAME: Final = f"""
    coalesce(CASE WHEN u.email_verified_at IS NOT NULL AND (cm.made_for IS NULL OR cm.confirmed_at IS NOT NULL)
                  THEN u.name END,
             CASE WHEN c.shares_directory OR cm.made_for IS NOT NULL
                  THEN {DIRECTORY_NAME.format(organization_id="cm.organization_id", user_id="cm.user_id")} END)
"""


def seen(role: LiteralString) -> LiteralString:
    """Return what the vendor sees of a member `cm` with the account `u` at a customer `c` of its service `v`."""
    return f"""
        jsonb_build_object('email', u.email, 'name', {NAME}, 'service_roles', {ROLES}, 'role', {role})
    """


# Of one who has signed in also the role there, as tokens say it.
SEEN_OF_SIGNED_IN: Final = seen(CUSTOMER_ROLE)


class PostgresCustomerVisits(Aggregate):
    """The port `CustomerVisits`."""

    def record(self, customer_id: UUID, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        values = {
            "customer_id": customer_id,
            "organization_id": organization_id,
            "user_id": user_id,
            "at": at,
        }
        self._connection.execute_later(
            # From now on the vendor knows the user, with these data: later changes are compared with them. For a user
            # who was removed since the first time there are events. A user that a shared directory shows is only marked
            # as known, because the event for the vendor is still to come (`people_events.py`).
            f"""
            WITH visit AS (
                INSERT INTO customer_users AS visit (customer_id, organization_id, user_id, first_sign_in_at,
                                                     last_sign_in_at)
                SELECT c.id, m.organization_id, m.user_id, %(at)s, %(at)s
                FROM   service_customers c
                JOIN   memberships m ON m.organization_id = %(organization_id)s AND m.user_id = %(user_id)s
                WHERE  c.id = %(customer_id)s AND m.organization_id = %(organization_id)s
                  AND  (c.organization_id = m.organization_id OR c.id = m.made_for)
                FOR    KEY SHARE
                ON CONFLICT (customer_id, user_id) DO UPDATE
                SET last_sign_in_at = excluded.last_sign_in_at, organization_id = excluded.organization_id
                RETURNING customer_id, user_id, first_sign_in_at = %(at)s AS is_first
            )
            INSERT INTO customer_users_told (customer_id, user_id, told)
            SELECT c.id, cm.user_id,
                   CASE WHEN c.shares_directory OR cm.made_for IS NOT NULL THEN ''
                        ELSE md5({SEEN_OF_SIGNED_IN}::text) END
            FROM   visit
            JOIN   service_customers c ON c.id = visit.customer_id
            JOIN   services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
            JOIN   memberships cm      ON cm.organization_id = %(organization_id)s AND cm.user_id = visit.user_id
            JOIN   users u             ON u.id = cm.user_id
            WHERE  visit.is_first
              AND  NOT EXISTS (SELECT FROM customer_users_told t
                               WHERE  t.customer_id = visit.customer_id AND t.user_id = visit.user_id)
            ON CONFLICT DO NOTHING
            """,
            values,
        )
        # Exact to the hour, so that many sign-ins do not wait for one row.
        self._connection.execute_later(
            """
            UPDATE service_customers c
            SET    last_sign_in_at = date_trunc('hour', %(at)s)
            FROM   organizations o
            WHERE  c.id = %(customer_id)s AND o.id = %(organization_id)s
              AND  (c.organization_id = o.id OR c.id = o.internal_of)
              AND  (c.last_sign_in_at IS NULL OR c.last_sign_in_at < date_trunc('hour', %(at)s))
            """,
            values,
        )
        self.record_use(customer_id, user_id, at=at)

    def record_use(self, customer_id: UUID, user_id: UUID, *, at: datetime) -> None:
        # Nothing is written for one who has been counted.
        self._connection.execute_later(
            """
            INSERT INTO customer_active_people (customer_id, month, user_id)
            SELECT %(customer_id)s, %(month)s, %(user_id)s
            WHERE  NOT EXISTS (SELECT FROM customer_active_people
                               WHERE  customer_id = %(customer_id)s AND month = %(month)s AND user_id = %(user_id)s)
            ON CONFLICT DO NOTHING
            """,
            {"customer_id": customer_id, "month": month_of(at), "user_id": user_id},
        )


def customers_row(described: dict[str, Any]) -> CustomersOfUser:
    """Return what `CUSTOMERS_OF_USER` describes."""
    standings = [_standing(**one) for one in described.pop("standings")]
    suspended = [SuspendedCustomer(**_ids(one), slug=one["slug"]) for one in described.pop("suspended")]
    return CustomersOfUser(standings=standings, suspended=suspended, **described)


def _standing(
    *, mfa_methods: str, device_trust_days: int, last_sign_in_at: str | None, **described: Any
) -> CustomerStanding:
    return CustomerStanding(
        mfa_methods=MfaMethods(mfa_methods),
        device_trust=timedelta(days=device_trust_days),
        last_sign_in_at=datetime.fromisoformat(last_sign_in_at).astimezone(UTC) if last_sign_in_at else None,
        **_ids(described, "connection_id"),
        **described,
    )


def _ids(described: dict[str, Any], *more: str) -> dict[str, Any]:
    """Take the ids of a customer out of what describes it."""
    found = {name: described.pop(name) for name in ("id", "organization_id", "internal_id", *more)}
    return {name: UUID(value) if value is not None else None for name, value in found.items()}
