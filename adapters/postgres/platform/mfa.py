"""Second factors across all organizations: every part of each statement is a range of an index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.credentials.mfa import MfaEvent
from core.ids import end_id_until, first_id_since
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
# The users who turned their second factor off, and related entries of the log, which is read separately for these users
# alone.
DISABLED: Final = """
    SELECT   user_id, created_at AS detected_at
    FROM     mfa_events
    WHERE    event_type = %(disabled)s AND created_at > %(since)s
    ORDER BY created_at DESC
    LIMIT    %(looked_at)s
"""
RISKY: Final = """
    SELECT   user_id, risk_score, created_at AS signed_in_at
    FROM     login_events
    WHERE    user_id = ANY (%(user_ids)s) AND success AND risk_score > %(risky)s
      AND    id >= %(from_id)s AND id < %(end_id)s
    ORDER BY id DESC
    LIMIT    %(looked_at)s
"""
_AFTER_RISKY: Final = """
    SELECT   user_id, detected_at, risk_score, signed_in_at
    FROM     unnest(%(user_ids)s::uuid[], %(detected)s::timestamptz[], %(risk_scores)s::integer[],
                    %(signed_in)s::timestamptz[]) AS disabled (user_id, detected_at, risk_score, signed_in_at)
    ORDER BY detected_at DESC
    LIMIT    %(limit)s
"""
ALERTS: Final = f"""
    WITH failures     AS ({_FAILURES}),
         backup_codes AS ({_BACKUP_CODES}),
         disabled     AS ({_AFTER_RISKY}),
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
        disabled = self._disabled_after_risky_sign_ins(since)
        return self._all(
            _alert,
            ALERTS,
            {
                "since": since,
                "limit": limit,
                "hides_owners": hides_owners,
                "failed": MfaEvent.VERIFY_FAILED,
                "used": MfaEvent.BACKUP_CODE_USED,
                "user_ids": [user_id for user_id, *_ in disabled],
                "detected": [detected_at for _, detected_at, *_ in disabled],
                "risk_scores": [risk_score for _, _, risk_score, _ in disabled],
                "signed_in": [signed_in_at for *_, signed_in_at in disabled],
                "many": MANY_FAILURES,
                "within": FAILURES_WITHIN,
                "looked_at": FAILURES_READ_MAX,
                "failures_alert": MfaAlertType.MANY_MFA_FAILURES,
                "backup_code_alert": MfaAlertType.BACKUP_CODE_FROM_NEW_DEVICE,
                "disabled_alert": MfaAlertType.MFA_DISABLED_AFTER_RISKY_SIGN_IN,
            },
        )

    def _disabled_after_risky_sign_ins(self, since: datetime) -> Sequence[tuple[UUID, datetime, int, datetime]]:
        """Return who turned it off and when, and the score and time of the newest risky sign-in shortly before."""
        values = {"disabled": MfaEvent.DISABLED, "since": since, "looked_at": FAILURES_READ_MAX}
        disabled = self._rows(DISABLED, values)
        if not disabled:
            return []
        risky = self._rows(
            RISKY,
            {
                "user_ids": list({row["user_id"] for row in disabled}),
                "risky": RISKY_SIGN_IN_PERCENT,
                "from_id": first_id_since(disabled[-1]["detected_at"] - DISABLED_WITHIN),
                "end_id": end_id_until(disabled[0]["detected_at"]),
                "looked_at": FAILURES_READ_MAX,
            },
        )
        of_user: dict[UUID, list[tuple[int, datetime]]] = {}
        for row in risky:
            of_user.setdefault(row["user_id"], []).append((row["risk_score"], row["signed_in_at"]))
        found: list[tuple[UUID, datetime, int, datetime]] = []
        for row in disabled:
            detected_at = row["detected_at"]
            before = [
                one for one in of_user.get(row["user_id"], ()) if timedelta() <= detected_at - one[1] <= DISABLED_WITHIN
            ]
            found += [(row["user_id"], detected_at, *before[0])] if before else []
        return found


def _alert(*, alert_type: str, **columns: Any) -> MfaAlert:
    return MfaAlert(alert_type=MfaAlertType(alert_type), **columns)
