"""Browser sessions, in the tables `sessions` and `browser_sessions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from adapters.postgres.domains_in_force import ENFORCED_ROUTE
from adapters.postgres.sessions.callers import IS_IMPERSONATOR_OWNER, IS_LIVE, live_at
from adapters.postgres.transaction import Aggregate
from core.sessions.browser_sessions import BrowserSession

if TYPE_CHECKING:
    from core.deferred import Deferred

# Each row is found by a unique key.
_LIVE: Final = f"""
    SELECT s.id           AS session_id,
           u.id           AS user_id,
           u.email,
           s.organization_id,
           s.device_id,
           s.provider,
           s.amr,
           s.authenticated_at,
           s.refreshed_at AS used_at,
           s.created_at,
           b.stays_signed_in,
           s.organization_id IS NOT NULL AND m.id IS NULL AS has_lost_organization,
           s.confined_to,
           s.confined_to_service,
           s.connection_id,
           s.confined_to_role,
           s.lacks_connection,
           s.bounded_until,
           b.domain_id,
           d.organization_id AS domain_organization_id,
           u.disowned_at IS NOT NULL AS is_disowned,
           u.language,
           s.impersonator_session_id,
           CASE WHEN s.impersonator_id IS NOT NULL THEN s.expires_at END AS impersonated_until,
           s.impersonator_id IS NULL AND NOT u.is_platform_owner AND u.disowned_at IS NULL
           AND EXISTS (SELECT {ENFORCED_ROUTE}
                         AND  s.connection_id IS DISTINCT FROM c.id
                         AND  NOT EXISTS (SELECT FROM memberships
                                          WHERE  organization_id = route.organization_id AND user_id = u.id
                                            AND  role = 'owner' AND suspended_at IS NULL))
                          AS lacks_required_connection
    FROM   browser_sessions b
    JOIN   sessions s         ON s.id = b.session_id
    JOIN   users u            ON u.id = s.user_id
    LEFT   JOIN custom_domains d ON d.id = b.domain_id
    LEFT   JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = s.user_id
    LEFT   JOIN users i       ON i.id = s.impersonator_id
    WHERE  {IS_LIVE} AND u.deactivated_at IS NULL AND u.locked_at IS NULL AND {IS_IMPERSONATOR_OWNER}
"""


# What a child is judged by, of a session that was read in the same request.
_PROOF: Final = f"""
    SELECT s.provider, s.amr, s.authenticated_at, s.confined_to, s.confined_to_service, s.connection_id,
           s.confined_to_role, s.lacks_connection, s.bounded_until
    FROM   sessions s
    JOIN   users u ON u.id = s.user_id
    WHERE  s.id = %(session_id)s AND {IS_LIVE} AND u.deactivated_at IS NULL AND u.locked_at IS NULL
    FOR    NO KEY UPDATE OF s
"""


class PostgresBrowserSessions(Aggregate):
    """The port `BrowserSessions`."""

    def add(self, session_id: UUID, *, secret_hash: bytes, stays_signed_in: bool) -> None:
        self._connection.execute_later(
            """
            INSERT INTO browser_sessions (session_id, secret_hash, stays_signed_in, domain_id)
            VALUES (%s, %s, %s, %s)
            """,
            (session_id, secret_hash, stays_signed_in, self._transaction.origin.domain_id),
        )

    def by_secret_hash(self, secret_hash: bytes) -> BrowserSession | None:
        return self._one(
            BrowserSession,
            f"{_LIVE} AND b.secret_hash = %(secret_hash)s",
            {"secret_hash": secret_hash, **live_at(self._transaction.now)},
        )

    def lock(self, session_id: UUID) -> BrowserSession | None:
        return self.defer_lock(session_id)()

    def defer_lock(self, session_id: UUID) -> Deferred[BrowserSession | None]:
        return self._defer_one(
            BrowserSession,
            f"{_LIVE} AND b.session_id = %(session_id)s FOR NO KEY UPDATE OF s",
            {"session_id": session_id, **live_at(self._transaction.now)},
        )

    def defer_lock_known(self, known: BrowserSession) -> Deferred[BrowserSession | None]:
        return self._defer_one(
            partial(replace, known), _PROOF, {"session_id": known.session_id, **live_at(self._transaction.now)}
        )

    def replace_secret(self, session_id: UUID, *, secret_hash: bytes) -> None:
        self._connection.execute_later(
            "UPDATE browser_sessions SET secret_hash = %s WHERE session_id = %s", (secret_hash, session_id)
        )

    def authenticate(
        self,
        session_id: UUID,
        methods: Sequence[str],
        *,
        device_id: UUID,
        ends_at: datetime,
        bounded_until: datetime | None,
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions
            SET    amr = amr || ARRAY(SELECT method FROM unnest(%s::text[]) AS method WHERE method <> ALL (amr)),
                   device_id = %s, authenticated_at = %s, refreshed_at = %s, expires_at = %s,
                   bounded_until = %s
            WHERE  id = %s
            """,
            (
                list(methods),
                device_id,
                self._transaction.now,
                self._transaction.now,
                ends_at,
                bounded_until,
                session_id,
            ),
        )

    def store_use(self, session_id: UUID, *, ends_at: datetime, leave_organization: bool) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions
            SET    refreshed_at = %s, expires_at = %s, organization_id = CASE WHEN %s THEN NULL ELSE organization_id END
            WHERE  id = %s AND revoked_at IS NULL
            """,
            (self._transaction.now, ends_at, leave_organization, session_id),
        )
