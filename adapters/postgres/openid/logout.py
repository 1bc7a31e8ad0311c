"""Notices about ended sessions in the table `logout_notices`, and the queue of services in `logout_queues`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.target_queues import CANDIDATES_MAX, TargetQueue, leased_of
from core.openid.logout import LeasedService, LogoutNotice
from core.sessions.security_profiles import SecurityProfile

_LEASED: Final = leased_of(
    "logout_queues",
    "service_id",
    is_served="(SELECT o.status = 'active' FROM organizations o WHERE o.id = q.organization_id)",
)


class PostgresLogoutNotices(TargetQueue):
    """The port `LogoutNotices`."""

    queue = "logout_queues"
    target = "service_id"
    items = "logout_notices"

    def postpone_inactive(self, *, services_max: int, until: datetime) -> None:
        # They would stay in front, and each lease would look at all of them again.
        self._connection.execute_later(
            """
            UPDATE logout_queues
            SET    due_at = %(until)s
            WHERE  service_id = ANY (ARRAY(
                SELECT   q.service_id
                FROM     logout_queues q
                JOIN     organizations o ON o.id = q.organization_id
                WHERE    q.due_at <= %(now)s AND (q.leased_until IS NULL OR q.leased_until <= %(now)s)
                AND      o.status <> 'active'
                ORDER BY q.due_at
                LIMIT    %(services_max)s
                FOR      NO KEY UPDATE OF q SKIP LOCKED))
            """,
            {"now": self._transaction.now, "until": until, "services_max": services_max},
        )

    def lease(
        self, *, services_max: int, of_organization_max: int, notices_max: int, leased_until: datetime
    ) -> Sequence[LeasedService]:
        rows = self._rows(
            f"""
            WITH {_LEASED}
            SELECT s.id, s.organization_id, s.client_id, s.backchannel_logout_uri AS uri, s.security_profile,
                   s.token_signing, coalesce(next.notices, '[]') AS notices
            FROM   leased
            JOIN   services s ON s.id = leased.service_id
            CROSS  JOIN LATERAL (
                SELECT json_agg(json_build_array(one.id, one.session_id, one.user_id, one.attempt_count, g.host)
                                ORDER BY one.next_retry_at, one.id) AS notices
                FROM   (SELECT   n.id, n.session_id, n.user_id, n.attempt_count, n.next_retry_at
                        FROM     logout_notices n
                        WHERE    n.service_id = s.id AND n.next_retry_at <= %(now)s
                        ORDER BY n.next_retry_at, n.id
                        LIMIT    %(notices_max)s) AS one
                LEFT   JOIN client_grants g ON g.session_id = one.session_id) AS next
            """,
            {
                "now": self._transaction.now,
                "leased_until": leased_until,
                "targets_max": services_max,
                "candidates_max": CANDIDATES_MAX,
                "of_organization_max": of_organization_max,
                "notices_max": notices_max,
            },
            # A prepared statement would be planned without the limits, for a tenth of all rows.
            prepare=False,
        )
        return [_leased(row, leased_until) for row in rows]

    def remove(self, organization_id: UUID, service_id: UUID, notice_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM logout_notices WHERE organization_id = %s AND service_id = %s AND id = %s",
            (organization_id, service_id, notice_id),
        )

    def postpone(
        self, organization_id: UUID, service_id: UUID, notice_id: UUID, *, attempts: int, until: datetime
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE logout_notices
            SET    attempt_count = %(attempts)s, next_retry_at = %(until)s
            WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s AND id = %(id)s
            AND    attempt_count = %(attempts)s - 1
            """,
            {
                "attempts": attempts,
                "until": until,
                "organization_id": organization_id,
                "service_id": service_id,
                "id": notice_id,
            },
        )

    def release(self, organization_id: UUID, service_id: UUID, *, leased_until: datetime) -> None:
        self._release(organization_id, service_id, leased_until)


def _leased(row: dict[str, Any], leased_until: datetime) -> LeasedService:
    notices = [
        LogoutNotice(
            id=UUID(one), session_id=UUID(session_id), user_id=UUID(user_id), attempt_count=attempts, host=host
        )
        for one, session_id, user_id, attempts, host in row.pop("notices")
    ]
    if row["security_profile"] is not None:
        row["security_profile"] = SecurityProfile(row["security_profile"])
    return LeasedService(notices=notices, leased_until=leased_until, **row)
