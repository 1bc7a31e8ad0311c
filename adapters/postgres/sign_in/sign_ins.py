"""The sign-ins of a user, each scope a range of an index of `login_events`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.affiliations import STANDING, Affiliations, Standing
from adapters.postgres.driver.columns import taken
from adapters.postgres.log_times import first_kept_id
from adapters.postgres.transaction import Aggregate
from core.credentials import user_agents
from core.ids import end_id_until, first_id_since
from core.sign_in.proofs import mailed_proof_of
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.sign_ins import (
    Affiliation,
    Scope,
    SignIn,
    SignInConnection,
    SignInCustomer,
    SignInOrganization,
    SignInService,
    outcome_of,
)

if TYPE_CHECKING:
    from core.deferred import Deferred

AFFILIATED: Final = """
    SELECT u.id
    FROM   users u
    WHERE  u.email = %(email)s
    AND    (EXISTS (SELECT FROM memberships m WHERE m.organization_id = %(organization_id)s AND m.user_id = u.id)
            OR EXISTS (SELECT FROM service_users l WHERE l.organization_id = %(organization_id)s AND l.user_id = u.id))
"""
_COLUMNS: Final = """
    id, created_at, provider, mailed_proof, success, reason, organization_id, service_id, connection_id, ip_address,
    user_agent, device_id, geo_country, geo_city, risk_score, risk_factors, request_id, customer_id
"""
_IN_CONTEXT: Final = """
    FROM  login_events
    WHERE organization_id = %(organization_id)s AND user_id = %(user_id)s AND organization_id <> user_id
    AND   created_at >= %(since)s AND id >= %(from_id)s AND id < %(end_id)s
"""
# An event that names an organization has none through which it came.
_THROUGH: Final = """
    FROM  login_events
    WHERE through_organization_id = %(organization_id)s AND user_id = %(user_id)s
    AND   created_at >= %(since)s AND id >= %(from_id)s AND id < %(end_id)s
"""
# A session that is limited to one service shows what concerns that service.
_OF_SERVICE: Final = "AND (%(service_id)s::uuid IS NULL OR service_id = %(service_id)s)"
# In the order of the ids, so that PostgreSQL reads the newest month first and no more months than the page needs.
_NEWEST: Final = "ORDER BY id DESC LIMIT %(limit)s::bigint + %(offset)s::bigint"
COUNT_OF_ORGANIZATION: Final = f"SELECT (SELECT count(*) {_IN_CONTEXT}) + (SELECT count(*) {_THROUGH})"
_OF_USER: Final = """
    FROM login_events WHERE user_id = %(user_id)s AND id >= %(from_id)s AND id < %(end_id)s
"""
COUNT: Final = f"SELECT count(*) {_OF_USER}"
# Each range is read in the order of its index, and no further than the page.
_NEWEST_OF_ORGANIZATION: Final = f"""
    (SELECT {_COLUMNS} {_IN_CONTEXT} {_NEWEST}) UNION ALL (SELECT {_COLUMNS} {_THROUGH} {_NEWEST})
"""
_NEWEST_OF_USER: Final = f"""
    (SELECT {_COLUMNS} {_OF_USER} AND success {_NEWEST})
    UNION ALL
    (SELECT {_COLUMNS} {_OF_USER} AND NOT success {_NEWEST})
"""
_FOLLOWING: Final = "ORDER BY id DESC LIMIT %(limit)s"
_FOLLOWING_OF_ORGANIZATION: Final = f"""
    (SELECT {_COLUMNS} {_IN_CONTEXT} {_OF_SERVICE} {_FOLLOWING})
    UNION ALL
    (SELECT {_COLUMNS} {_THROUGH} {_OF_SERVICE} {_FOLLOWING})
"""
_FOLLOWING_OF_USER: Final = f"""
    (SELECT {_COLUMNS} {_OF_USER} AND success {_FOLLOWING})
    UNION ALL
    (SELECT {_COLUMNS} {_OF_USER} AND NOT success {_FOLLOWING})
"""
# For a vendor: whether it knew by then that the user belongs to the customer, by an earlier sign-in. A refusal alone
# would reveal the membership of a user that the customer has not shown.
_IS_KNOWN_FOR: Final = """
    EXISTS (SELECT FROM customer_users own
            WHERE  own.customer_id = w.id
            AND    own.user_id = %(user_id)s AND own.first_sign_in_at <= e.created_at)
"""
_NAMED: Final = f"""
    SELECT   e.id, e.created_at, e.provider, e.mailed_proof, e.success, e.reason, e.ip_address, e.user_agent,
             e.device_id, e.geo_country, e.geo_city, e.risk_score, e.risk_factors, e.request_id,
             o.id AS organization_id, o.slug AS organization_slug, o.name AS organization_name,
             s.id AS service_id, s.slug AS service_slug, s.name AS service_name,
             c.id AS connection_id, c.name AS connection_name,
             w.id AS customer_id, k.slug AS customer_slug, k.name AS customer_name
    FROM     page e
    LEFT     JOIN organizations o ON o.id = e.organization_id AND o.status <> 'deleting'
    LEFT     JOIN services s ON s.id = e.service_id AND s.organization_id = e.organization_id
    LEFT     JOIN upstream_connections c
             ON   c.id = e.connection_id AND c.organization_id = coalesce(%(organization_id)s, c.organization_id)
    LEFT     JOIN service_customers w
             ON   w.id = e.customer_id AND w.vendor_id = e.organization_id AND w.service_id = e.service_id
             AND  (e.success OR e.organization_id IS DISTINCT FROM %(organization_id)s::uuid OR {_IS_KNOWN_FOR})
    LEFT     JOIN organizations k ON k.id = w.organization_id
    ORDER BY e.id DESC
"""
_PAGE: Final = "SELECT * FROM found ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s"
PAGE_OF_ORGANIZATION: Final = f"WITH found AS ({_NEWEST_OF_ORGANIZATION}), page AS ({_PAGE}) {_NAMED}"
PAGE: Final = f"WITH found AS ({_NEWEST_OF_USER}), page AS ({_PAGE}) {_NAMED}"
_PART: Final = f"SELECT * FROM found {_FOLLOWING}"
FOLLOWING_OF_ORGANIZATION: Final = f"WITH found AS ({_FOLLOWING_OF_ORGANIZATION}), page AS ({_PART}) {_NAMED}"
FOLLOWING: Final = f"WITH found AS ({_FOLLOWING_OF_USER}), page AS ({_PART}) {_NAMED}"
_FOUND: Final = f"""
    SELECT {_COLUMNS}
    FROM   login_events
    WHERE  id = %(id)s AND id >= %(from_id)s AND user_id = %(user_id)s
      AND  (%(organization_id)s::uuid IS NULL
            OR ((organization_id = %(organization_id)s OR through_organization_id = %(organization_id)s)
                AND created_at >= %(since)s {_OF_SERVICE}))
"""
FIND: Final = f"WITH page AS ({_FOUND}) {_NAMED}"


class PostgresSignIns(Aggregate):
    """The port `SignIns`."""

    def affiliation(self, organization_id: UUID, user_id: UUID) -> Affiliation | None:
        standing = self._one(Standing, STANDING, {"organization_id": organization_id, "user_id": user_id})
        if standing is None:
            return None
        since = Affiliations(self._transaction).since(organization_id, [standing])
        return Affiliation(since=since[user_id])

    def affiliated(self, organization_id: UUID, email: str) -> UUID | None:
        return self._value_or_none(AFFILIATED, {"organization_id": organization_id, "email": email})

    def defer_count(self, user_id: UUID, scope: Scope | None) -> Deferred[int]:
        return self._defer_value_or_none(
            COUNT if scope is None else COUNT_OF_ORGANIZATION, self._values_of(user_id, scope)
        )

    def page(self, user_id: UUID, scope: Scope | None, *, limit: int, offset: int) -> Sequence[SignIn]:
        return self._all(
            _sign_in,
            PAGE if scope is None else PAGE_OF_ORGANIZATION,
            self._values_of(user_id, scope) | {"limit": limit, "offset": offset},
        )

    def find(self, user_id: UUID, sign_in_id: UUID, scope: Scope | None) -> SignIn | None:
        return self._one(_sign_in, FIND, self._values_of(user_id, scope) | {"id": sign_in_id})

    def following(self, user_id: UUID, scope: Scope | None, *, after: UUID | None, limit: int) -> Sequence[SignIn]:
        values = self._values_of(user_id, scope) | {"limit": limit}
        if after is not None:
            values["end_id"] = min(after, values["end_id"])
        return self._all(_sign_in, FOLLOWING if scope is None else FOLLOWING_OF_ORGANIZATION, values)

    def _values_of(self, user_id: UUID, scope: Scope | None) -> dict[str, Any]:
        from_id = first_kept_id(self._transaction.now)
        return {
            "user_id": user_id,
            "organization_id": scope.organization_id if scope is not None else None,
            "since": scope.since if scope is not None else None,
            "service_id": scope.service_id if scope is not None else None,
            "from_id": max(from_id, first_id_since(scope.since)) if scope is not None else from_id,
            "end_id": end_id_until(self._transaction.now),
        }


def _sign_in(
    *, success: bool, reason: str | None, user_agent: str | None, mailed_proof: str | None, **columns: Any
) -> SignIn:
    # A version after this one may have reasons that this one does not know.
    known = None if success else reason_of(reason) or SignInReason.NOT_RECORDED
    organization = taken(columns, "organization_")
    service, connection = taken(columns, "service_"), taken(columns, "connection_")
    customer = taken(columns, "customer_")
    return SignIn(
        outcome=outcome_of(known),
        reason=known,
        reason_text=known.text if known is not None else None,
        organization=SignInOrganization(**organization) if organization["id"] is not None else None,
        service=SignInService(**service) if service["id"] is not None else None,
        connection=SignInConnection(**connection) if connection["id"] is not None else None,
        customer=SignInCustomer(**customer) if customer["id"] is not None else None,
        user_agent=user_agent,
        mailed_proof=mailed_proof_of(mailed_proof),
        device=user_agents.describe(user_agent).name,
        **columns,
    )
