"""What a person sees of their own account: live sessions, ways to sign in, and figures, each up to a maximum."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_MEMBERSHIP
from adapters.postgres.domains_in_force import in_force_at
from adapters.postgres.driver.columns import taken
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.sessions.sessions import WITHIN, within_values
from adapters.postgres.sign_in.upstream.domains.domain_routes import IS_ENFORCED, IS_OF_OWNER, OF_USER
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import OWNER
from core.sessions.caller_limits import Confinement
from core.sessions.sessions import IDLE_LIFETIME
from core.sign_in.own_account import AccountFigures, NamedConnection, OwnSession, SupportSession
from core.sign_in.sign_ins import SignInConnection, SignInCustomer, SignInOrganization, SignInService

if TYPE_CHECKING:
    from core.deferred import Deferred

# The index of a user's sessions is read from the oldest that can be alive; names are joined to the page alone.
PAGE: Final = f"""
    WITH alive AS (
        SELECT *
        FROM   sessions s
        WHERE  user_id = %(user_id)s AND {IS_LIVE}
          AND  (%(within)s::uuid IS NULL OR id = %(current_id)s::uuid OR {WITHIN})),
    page AS (
        SELECT   *, count(*) OVER () AS total
        FROM     alive
        ORDER BY id = %(current_id)s::uuid DESC, refreshed_at DESC, id DESC
        LIMIT    %(limit)s)
    SELECT   p.total, p.id, p.parent_id, p.provider, p.amr, p.created_at, p.refreshed_at AS last_used_at, p.expires_at,
             p.ip_address, p.user_agent, d.name AS device, h.domain AS host, b.session_id IS NOT NULL AS is_browser,
             p.impersonator_id IS NOT NULL AS is_impersonation,
             o.id AS organization_id, o.slug AS organization_slug, o.name AS organization_name,
             v.id AS service_id, v.slug AS service_slug, v.name AS service_name,
             c.id AS connection_id, c.name AS connection_name,
             w.id AS customer_id, k.slug AS customer_slug, k.name AS customer_name
    FROM     page p
    LEFT     JOIN browser_sessions b ON b.session_id = p.id
    LEFT     JOIN custom_domains h ON h.id = b.domain_id
    LEFT     JOIN devices d ON d.id = p.device_id AND d.user_id = p.user_id
    LEFT     JOIN organizations o ON o.id = coalesce(p.organization_id, p.confined_to)
    LEFT     JOIN services v ON v.id = p.service_id AND v.organization_id = p.organization_id
    LEFT     JOIN upstream_connections c ON c.id = p.connection_id AND c.organization_id = p.confined_to
    LEFT     JOIN service_customers w
             ON   w.id = p.customer_id AND w.vendor_id = p.organization_id AND w.service_id = p.service_id
    LEFT     JOIN organizations k ON k.id = w.organization_id
    ORDER BY p.id = %(current_id)s::uuid DESC, p.refreshed_at DESC, p.id DESC
"""
# Of the index of a user's sessions, the newest first.
_SUPPORT: Final = """
    SELECT    s.created_at AS began_at, o.name AS organization_name
    FROM      sessions s
    LEFT JOIN organizations o ON o.id = s.organization_id
    WHERE     s.user_id = %(user_id)s AND s.created_at >= %(since)s AND s.impersonator_id IS NOT NULL
      AND     (%(only_organization_id)s::uuid IS NULL OR s.organization_id = %(only_organization_id)s)
    ORDER BY  s.created_at DESC
    LIMIT     %(limit)s
"""
_ORGANIZATION_OF: Final = f"""
    SELECT organization_id
    FROM   sessions s
    WHERE  user_id = %(user_id)s AND service_id = %(service_id)s AND {IS_LIVE}
      AND  (%(within)s::uuid IS NULL OR {WITHIN})
    LIMIT  1
"""


class PostgresSessionsOfUser(Aggregate):
    """The port `SessionsOfUser`."""

    def alive_of(
        self, user_id: UUID, *, limits: Confinement | None, current_id: UUID | None, limit: int
    ) -> tuple[Sequence[OwnSession], int]:
        values = self._of(user_id, limits) | {"current_id": current_id, "limit": limit}
        return self._page_of(_own_session, PAGE, values)

    def support_of(
        self, user_id: UUID, *, only_organization_id: UUID | None, since: datetime, limit: int
    ) -> Sequence[SupportSession]:
        return self._all(
            SupportSession,
            _SUPPORT,
            {"user_id": user_id, "only_organization_id": only_organization_id, "since": since, "limit": limit},
        )

    def organization_of(self, user_id: UUID, service_id: UUID, *, limits: Confinement | None) -> UUID | None:
        return self._value_or_none(_ORGANIZATION_OF, self._of(user_id, limits) | {"service_id": service_id})

    def _of(self, user_id: UUID, limits: Confinement | None) -> dict[str, Any]:
        return {"user_id": user_id, **within_values(limits), **live_at(self._transaction.now)}


def _own_session(
    *,
    expires_at: datetime,
    last_used_at: datetime,
    **columns: Any,
) -> OwnSession:
    organization = taken(columns, "organization_")
    service, connection = taken(columns, "service_"), taken(columns, "connection_")
    customer = taken(columns, "customer_")
    return OwnSession(
        expires_at=min(expires_at, last_used_at + IDLE_LIFETIME),
        last_used_at=last_used_at,
        organization=SignInOrganization(**organization) if organization["id"] is not None else None,
        service=SignInService(**service) if service["id"] is not None else None,
        connection=SignInConnection(**connection) if connection["id"] is not None else None,
        customer=SignInCustomer(**customer) if customer["id"] is not None else None,
        **columns,
    )


_NAMED: Final = "c.id, c.organization_id, c.name, o.name AS organization_name"
_REQUIRED: Final = f"SELECT {_NAMED} {OF_USER} AND {IS_ENFORCED} AND (%(of_owners)s OR NOT {IS_OF_OWNER})"
_OF_SESSION: Final = f"""
    SELECT {_NAMED}
    FROM   sessions s
    JOIN   upstream_connections c ON c.id = s.connection_id AND c.organization_id = s.confined_to
    JOIN   organizations o ON o.id = c.organization_id
    WHERE  s.id = %s
"""


class PostgresWaysOfUser(Aggregate):
    """The port `WaysOfUser`."""

    def defer_required(self, user_id: UUID, *, of_owners: bool = False) -> Deferred[NamedConnection | None]:
        values = {"user_id": user_id, "owner": OWNER, "of_owners": of_owners}
        return self._defer_one(NamedConnection, _REQUIRED, values | in_force_at(self._transaction.now))

    def defer_connection_of(self, session_id: UUID) -> Deferred[NamedConnection | None]:
        return self._defer_one(NamedConnection, _OF_SESSION, (session_id,))


_OF_SERVICES: Final = """
    (%(within)s::uuid IS NULL
     OR (organization_id = %(within)s AND (%(within_service)s::uuid IS NULL OR service_id = %(within_service)s)))
"""
_SHOWN_SESSIONS: Final = f"""
    SELECT
    FROM   sessions s
    WHERE  user_id = %(user_id)s AND {IS_LIVE}
      AND  (%(within)s::uuid IS NULL OR id = %(current_id)s OR {WITHIN})
"""
FIGURES: Final = f"""
    SELECT (SELECT count(*) FROM ({_SHOWN_SESSIONS} LIMIT %(figure_max)s) AS counted) AS sessions,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   service_users
                    WHERE  user_id = %(user_id)s AND last_login_at IS NOT NULL AND {_OF_SERVICES}
                    LIMIT  %(figure_max)s) AS counted) AS applications,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   subscriptions
                    WHERE  user_id = %(user_id)s AND status IN ('active', 'past_due') AND {_OF_SERVICES}
                    LIMIT  %(figure_max)s) AS counted) AS subscriptions,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   memberships
                    WHERE  user_id = %(user_id)s AND {IS_MEMBERSHIP}
                      AND  (%(only_organization_id)s::uuid IS NULL OR organization_id = %(only_organization_id)s)
                    LIMIT  %(figure_max)s) AS counted) AS organizations
"""


class PostgresFiguresOfUser(Aggregate):
    """The port `FiguresOfUser`."""

    def of_user(
        self,
        user_id: UUID,
        *,
        limits: Confinement | None,
        only_organization_id: UUID | None,
        current_id: UUID,
        figure_max: int,
    ) -> AccountFigures:
        return self._only(
            AccountFigures,
            FIGURES,
            {
                "user_id": user_id,
                "only_organization_id": only_organization_id,
                "current_id": current_id,
                "figure_max": figure_max,
                **within_values(limits),
                **live_at(self._transaction.now),
            },
        )
