"""An organization's records of one person: each list is read by an index on the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.audit.entry_search import OF_ORGANIZATION, found_entries, shown_of
from adapters.postgres.driver.columns import taken
from adapters.postgres.sessions.callers import IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.audit.audit_log import FoundEntry
from core.audit.person_records import PersonService, PersonSession
from core.services.subscriptions import SubscriptionStatus
from core.sign_in.sign_ins import SignInConnection, SignInOrganization, SignInService

SERVICES: Final = """
    SELECT   s.slug, s.name, l.first_login_at AS linked_at, l.last_login_at AS last_sign_in_at,
             p.name AS plan, b.status AS subscription_status, b.current_period_end,
             b.billing_subscription_id IS NOT NULL AS is_billed
    FROM     service_users l
    JOIN     services s ON s.id = l.service_id AND s.organization_id = l.organization_id
    LEFT     JOIN subscriptions b ON b.service_id = l.service_id AND b.user_id = l.user_id
                                     AND b.organization_id = l.organization_id AND b.status IN ('active', 'past_due')
    LEFT     JOIN plans p ON p.id = b.plan_id AND p.service_id = b.service_id
    WHERE    l.organization_id = %s AND l.user_id = %s
    ORDER BY s.slug
"""
# The sessions that `revoke_in_organization` ends.
SESSIONS: Final = f"""
    WITH alive AS (
        SELECT *
        FROM   sessions s
        WHERE  user_id = %(user_id)s AND {IS_LIVE}
          AND  (organization_id = %(organization_id)s OR confined_to = %(organization_id)s)),
    page AS (
        SELECT *, count(*) OVER () AS total FROM alive ORDER BY refreshed_at DESC, id DESC LIMIT %(limit)s)
    SELECT   p.total, p.id, p.provider, p.created_at, p.refreshed_at AS last_used_at, p.ip_address, p.user_agent,
             o.id AS organization_id, o.slug AS organization_slug, o.name AS organization_name,
             v.id AS service_id, v.slug AS service_slug, v.name AS service_name,
             c.id AS connection_id, c.name AS connection_name
    FROM     page p
    JOIN     organizations o ON o.id = %(organization_id)s
    LEFT     JOIN services v ON v.id = p.service_id AND v.organization_id = o.id
    LEFT     JOIN upstream_connections c ON c.id = p.connection_id AND c.organization_id = o.id
    ORDER BY p.refreshed_at DESC, p.id DESC
"""
# Each of the two is a range of an index, and read no further than the page.
ENTRIES: Final = shown_of(
    OF_ORGANIZATION,
    """(SELECT   *
        FROM     audit_entries
        WHERE    organization_id = %(organization_id)s AND target_type = 'user' AND target_id = %(target_id)s
        ORDER BY id DESC
        LIMIT    %(limit)s)
       UNION
       (SELECT   *
        FROM     audit_entries
        WHERE    organization_id = %(organization_id)s AND actor_user_id = %(user_id)s
        ORDER BY id DESC
        LIMIT    %(limit)s)
       ORDER BY id DESC
       LIMIT  %(limit)s""",
    "DESC",
)


class PostgresPersonRecords(Aggregate):
    """The port `PersonRecords`."""

    def services(self, organization_id: UUID, user_id: UUID) -> Sequence[PersonService]:
        return self._all(_service, SERVICES, (organization_id, user_id))

    def sessions(self, organization_id: UUID, user_id: UUID, *, limit: int) -> tuple[Sequence[PersonSession], int]:
        return self._page_of(
            _session,
            SESSIONS,
            {
                "organization_id": organization_id,
                "user_id": user_id,
                "limit": limit,
                **live_at(self._transaction.now),
            },
        )

    def entries(self, organization_id: UUID, user_id: UUID, *, limit: int) -> Sequence[FoundEntry]:
        rows = self._rows(
            ENTRIES,
            {"organization_id": organization_id, "user_id": user_id, "target_id": str(user_id), "limit": limit},
            # Planned for this person: of most people there are few entries, of some there are many.
            prepare=False,
        )
        return found_entries(self._connection, rows)


def _service(*, subscription_status: str | None, **columns: Any) -> PersonService:
    status = SubscriptionStatus(subscription_status) if subscription_status is not None else None
    return PersonService(subscription_status=status, **columns)


def _session(**columns: Any) -> PersonSession:
    organization = taken(columns, "organization_")
    service, connection = taken(columns, "service_"), taken(columns, "connection_")
    return PersonSession(
        organization=SignInOrganization(**organization),
        service=SignInService(**service) if service["id"] is not None else None,
        connection=SignInConnection(**connection) if connection["id"] is not None else None,
        **columns,
    )
