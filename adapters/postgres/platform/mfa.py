"""Second factors across all organizations: every part of each statement is a range of an index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.credentials.mfa_events import MfaEvent
from core.limits import SIGN_INS_KEPT_FOR
from core.platform.mfa import (
    DISABLED_WITHIN,
    FAILURES_READ_MAX,
    FAILURES_WITHIN,
    MANY_FAILURES,
    RISKY_SIGN_IN_PERCENT,
    MfaAlert,
    MfaAlertType,
    MfaCounts,
    UserMfaStatus,
)

STATUS: Final = """
    SELECT u.id AS user_id, u.email, u.mfa_enabled_at IS NOT NULL AS mfa_enabled, u.mfa_enabled_at,
           (SELECT count(*) FROM backup_codes c WHERE c.user_id = u.id AND c.used_at IS NULL) AS backup_codes_remaining,
           (SELECT   e.created_at
            FROM     mfa_events e
            WHERE    e.user_id = u.id AND e.event_type = %(attempt)s AND e.created_at > %(kept_since)s
            ORDER BY e.created_at DESC
            LIMIT    1) AS last_mfa_challenge
    FROM   users u
    WHERE  u.id = %(user_id)s
"""
COUNTS: Final = """
    SELECT (SELECT count(*) FROM users)                                                           AS total_users,
           (SELECT count(*) FROM users WHERE mfa_enabled_at IS NOT NULL)                          AS mfa_enabled_users,
           (SELECT count(*) FROM mfa_events WHERE event_type = %(used)s AND created_at > %(since)s)
                                                                                                  AS backup_codes_used,
           (SELECT count(*) FROM mfa_events WHERE event_type = %(failed)s AND created_at > %(since)s)
                                                                                                  AS mfa_failures
"""
# A failure raises an alert when the fourth one before it was recent; the newest such failure is the user's alert.
_FAILURES: Final = """
    SELECT   user_id, max(created_at) AS detected_at, count(*) AS times
    FROM     (SELECT user_id, created_at,
                     lag(created_at, %(many)s - 1) OVER (PARTITION BY user_id ORDER BY created_at) AS first_at
              FROM   (SELECT   user_id, created_at
                      FROM     mfa_events
                      WHERE    event_type = %(failed)s AND created_at > %(since)s
                      ORDER BY created_at DESC
                      LIMIT    %(looked_at)s) AS newest) AS sequences
    WHERE    first_at > created_at - %(within)s
    GROUP BY user_id
    ORDER BY detected_at DESC
    LIMIT    %(limit)s
"""
_BACKUP_CODES: Final = """
    SELECT   user_id, created_at AS detected_at, (details ->> 'remaining')::integer AS remaining
    FROM     mfa_events
    WHERE    event_type = %(used)s AND created_at > %(since)s AND (details ->> 'is_new_device')::boolean
    ORDER BY created_at DESC
    LIMIT    %(limit)s
"""
_DISABLED: Final = """
    SELECT     e.user_id, e.created_at AS detected_at, l.risk_score, l.created_at AS signed_in_at
    FROM       mfa_events e
    CROSS JOIN LATERAL (SELECT   risk_score, created_at
                        FROM     login_events
                        WHERE    user_id = e.user_id AND success AND risk_score > %(risky)s
                          AND    created_at BETWEEN e.created_at - %(soon)s AND e.created_at
                          AND    id >= first_id_at(e.created_at - %(soon)s - interval '1 hour')
                          AND    id < first_id_at(e.created_at + interval '1 minute')
                        ORDER BY id DESC
                        LIMIT    1) AS l
    WHERE      e.event_type = %(disabled)s AND e.created_at > %(since)s
    ORDER BY   e.created_at DESC
    LIMIT      %(limit)s
"""
ALERTS: Final = f"""
    WITH failures     AS ({_FAILURES}),
         backup_codes AS ({_BACKUP_CODES}),
         disabled     AS ({_DISABLED}),
         found        AS (SELECT user_id, %(failures_alert)s AS alert_type, detected_at,
                                 jsonb_build_object('failures', %(many)s + times - 1,
                                                    'within_minutes', extract(epoch FROM %(within)s) / 60) AS details
                          FROM   failures
                          UNION  ALL
                          SELECT user_id, %(backup_code_alert)s, detected_at,
                                 jsonb_build_object('backup_codes_remaining', remaining)
                          FROM   backup_codes
                          UNION  ALL
                          SELECT user_id, %(disabled_alert)s, detected_at,
                                 jsonb_build_object('risk_score', risk_score, 'signed_in_at', signed_in_at)
                          FROM   disabled)
    SELECT   found.user_id, u.email, found.alert_type, found.details, found.detected_at
    FROM     found
    JOIN     users u ON u.id = found.user_id AND (NOT %(hides_owners)s OR NOT u.is_platform_owner)
    ORDER BY found.detected_at DESC, found.user_id
    LIMIT    %(limit)s
"""


class PostgresPlatformMfa(Aggregate):
    """The port `PlatformMfa`."""

    def status(self, user_id: UUID) -> UserMfaStatus | None:
        kept_since = self._transaction.now - SIGN_INS_KEPT_FOR
        values = {"user_id": user_id, "attempt": MfaEvent.VERIFY_ATTEMPT, "kept_since": kept_since}
        return self._one(UserMfaStatus, STATUS, values)

    def counts(self, *, since: datetime) -> MfaCounts:
        return self._only(
            MfaCounts, COUNTS, {"since": since, "used": MfaEvent.BACKUP_CODE_USED, "failed": MfaEvent.VERIFY_FAILED}
        )

    def alerts(self, *, since: datetime, limit: int, hides_owners: bool) -> Sequence[MfaAlert]:
        return self._all(
            _alert,
            ALERTS,
            {
                "since": since,
                "limit": limit,
                "hides_owners": hides_owners,
                "failed": MfaEvent.VERIFY_FAILED,
                "used": MfaEvent.BACKUP_CODE_USED,
                "disabled": MfaEvent.DISABLED,
                "many": MANY_FAILURES,
                "within": FAILURES_WITHIN,
                "looked_at": FAILURES_READ_MAX,
                "risky": RISKY_SIGN_IN_PERCENT,
                "soon": DISABLED_WITHIN,
                "failures_alert": MfaAlertType.MANY_MFA_FAILURES,
                "backup_code_alert": MfaAlertType.BACKUP_CODE_FROM_NEW_DEVICE,
                "disabled_alert": MfaAlertType.MFA_DISABLED_AFTER_RISKY_SIGN_IN,
            },
        )


def _alert(*, alert_type: str, **columns: Any) -> MfaAlert:
    return MfaAlert(alert_type=MfaAlertType(alert_type), **columns)
