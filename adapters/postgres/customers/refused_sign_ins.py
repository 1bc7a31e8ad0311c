"""The refused sign-ins for customers in the table `login_events`, a part of the index of each customer."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

from adapters.postgres.log_times import kept_values
from adapters.postgres.sessions.customer_contexts import IS_ASSIGNED
from adapters.postgres.sign_in.customer_choices import NAME
from adapters.postgres.transaction import Aggregate
from core.customers.customers import ServiceCustomer
from core.customers.refused_sign_ins import RefusedSignIn
from core.services.services import Service
from core.sign_in.reasons import SignInReason, reason_of

# As `membership_of` has it, without a union: a cluster takes none beside a log.
_MEMBERSHIP: Final = """
    LATERAL (SELECT   organization_id, user_id, role, confirmed_at, suspended_at, made_for
             FROM     memberships
             WHERE    user_id = e.user_id AND (organization_id = c.organization_id OR made_for = c.id)
             ORDER BY made_for NULLS FIRST
             LIMIT    1)
"""
# What was refused before the vendor knew the person, or before the person was a member, is not shown.
NEWEST: Final = f"""
    WITH looked_at AS MATERIALIZED (
        SELECT   e.id, e.created_at, e.user_id, e.reason
        FROM     login_events e
        WHERE    e.customer_id = %(customer_id)s AND NOT e.success
          AND    e.organization_id = %(vendor_id)s AND e.service_id = %(service_id)s
          AND    e.id >= %(kept_id)s AND e.id < %(now_id)s
          AND    e.reason <> ALL (%(without)s)
        ORDER BY e.id DESC
        LIMIT    %(looked_at_max)s)
    SELECT    e.id, e.created_at, e.user_id, u.email, {NAME} AS name, e.reason
    FROM      looked_at e
    JOIN      service_customers c  ON c.id = %(customer_id)s AND c.vendor_id = %(vendor_id)s
                                  AND c.service_id = %(service_id)s AND c.organization_id = %(organization_id)s
    JOIN      services v           ON v.organization_id = %(vendor_id)s AND v.id = c.service_id
    JOIN      {_MEMBERSHIP} AS cm ON true
    JOIN      users u              ON u.id = cm.user_id
    LEFT JOIN customer_users own   ON own.customer_id = c.id AND own.user_id = cm.user_id
    WHERE     cm.confirmed_at <= e.created_at AND u.deactivated_at IS NULL
      AND     (own.first_sign_in_at <= e.created_at
               OR ((c.shares_directory OR cm.made_for IS NOT NULL) AND cm.suspended_at IS NULL AND {IS_ASSIGNED}))
    ORDER BY  e.id DESC
    LIMIT     %(limit)s
"""


class PostgresRefusedSignIns(Aggregate):
    """The port `RefusedSignIns`."""

    def newest(
        self,
        service: Service,
        customer: ServiceCustomer,
        *,
        without: Set[SignInReason],
        looked_at_max: int,
        limit: int,
    ) -> Sequence[RefusedSignIn]:
        return self._all(
            _refused,
            NEWEST,
            kept_values(self._transaction.now)
            | {
                "vendor_id": service.organization_id,
                "service_id": service.id,
                "customer_id": customer.id,
                "organization_id": customer.organization_id,
                "without": sorted(without),
                "looked_at_max": looked_at_max,
                "limit": limit,
            },
        )


def _refused(*, reason: str | None, **columns: Any) -> RefusedSignIn:
    return RefusedSignIn(reason=reason_of(reason), **columns)
