"""Second factors in the tables `totp_secrets`, `passkeys` and `backup_codes`, and their log in `mfa_events`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.admissions import is_membership
from adapters.postgres.transaction import Aggregate
from core.credentials.factors import FactorRules
from core.credentials.mfa import MfaStatus, Settled, TotpSecret
from core.secrets import Secret
from core.sessions.mfa_methods import MfaMethods

_SEALED_COLUMN: Final = {"table": "totp_secrets", "column": "secret_sealed"}


class PostgresTotpSecrets(Aggregate):
    """The port `TotpSecrets`."""

    def put_pending(self, user_id: UUID, secret: Secret, *, at: datetime, is_of_limited_session: bool) -> bool:
        sealed = self._transaction.vault.seal(secret.reveal().encode(), row=user_id, **_SEALED_COLUMN)
        return self._changes_one(
            """
            INSERT INTO totp_secrets (user_id, secret_sealed, created_at, is_of_limited_session)
            VALUES (%s, %s, %s, %s)
            ON CONFLICT (user_id) DO UPDATE
            SET    secret_sealed = excluded.secret_sealed, created_at = excluded.created_at,
                   is_of_limited_session = excluded.is_of_limited_session
            WHERE  totp_secrets.enabled_at IS NULL
            """,
            (user_id, sealed, at, is_of_limited_session),
        )

    def lock(self, user_id: UUID) -> TotpSecret | None:
        found = self._connection.execute(
            "SELECT secret_sealed, enabled_at, is_of_limited_session FROM totp_secrets WHERE user_id = %s FOR UPDATE",
            (user_id,),
        ).fetchone()
        if found is None:
            return None
        sealed, enabled_at, is_of_limited_session = found
        secret = self._transaction.vault.open(sealed, row=user_id, **_SEALED_COLUMN)
        return TotpSecret(
            secret=Secret(secret.decode()), enabled_at=enabled_at, is_of_limited_session=is_of_limited_session
        )

    def enable(self, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later("UPDATE totp_secrets SET enabled_at = %s WHERE user_id = %s", (at, user_id))

    def use_step(self, user_id: UUID, step: int) -> bool:
        return self._changes_one(
            """
            UPDATE totp_secrets
            SET    last_used_step = %s
            WHERE  user_id = %s AND (last_used_step IS NULL OR last_used_step < %s)
            """,
            (step, user_id, step),
        )

    def remove(self, user_id: UUID) -> bool:
        enabled_at = self._connection.execute(
            "DELETE FROM totp_secrets WHERE user_id = %s RETURNING enabled_at", (user_id,)
        ).fetchone()
        return enabled_at is not None and enabled_at[0] is not None


class PostgresSecondFactors(Aggregate):
    """The port `SecondFactors`.

    For every sign-in to see, `users.mfa_enabled_at` repeats whether the account has a second factor, and
    `users.has_passkey_factor` whether one of them is a passkey. Without either, a passkey whose authenticator verifies
    its user counts.
    """

    def status(self, user_id: UUID) -> MfaStatus:
        return self._only(
            MfaStatus,
            """
            SELECT mfa_enabled_at IS NOT NULL AS enabled,
                   EXISTS (SELECT FROM backup_codes c WHERE c.user_id = u.id AND c.used_at IS NULL)
                       AS has_backup_codes
            FROM   users u
            WHERE  id = %s
            """,
            (user_id,),
        )

    def has_app(self, user_id: UUID) -> bool:
        return self._finds_any("SELECT FROM totp_secrets WHERE user_id = %s AND enabled_at IS NOT NULL", (user_id,))

    def settle(self, user_id: UUID, *, at: datetime) -> Settled:
        return self._only(
            Settled,
            """
            WITH present AS (
                SELECT u.mfa_enabled_at IS NOT NULL AS was_on,
                       EXISTS (SELECT FROM totp_secrets t
                               WHERE  t.user_id = u.id AND t.enabled_at IS NOT NULL) AS has_app,
                       EXISTS (SELECT FROM passkeys p
                               WHERE  p.user_id = u.id AND p.second_factor_at IS NOT NULL) AS has_passkey
                FROM   users u
                WHERE  u.id = %(user_id)s)
            UPDATE    users u
            SET       has_passkey_factor = present.has_passkey,
                      mfa_enabled_at = CASE WHEN present.has_app OR present.has_passkey
                                            THEN coalesce(u.mfa_enabled_at, %(at)s) END
            FROM      present
            WHERE     u.id = %(user_id)s
            RETURNING present.was_on, u.mfa_enabled_at IS NOT NULL AS is_on
            """,
            {"user_id": user_id, "at": at},
        )

    def rules_of(self, user_id: UUID) -> FactorRules:
        return self._only(
            FactorRules,
            f"""
            SELECT u.mfa_enabled_at IS NOT NULL
                   OR (asked.requires
                       AND EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id AND p.verifies_user)) AS are_required,
                   asked.resists AS take_passkeys_alone
            FROM   users u
            CROSS  JOIN LATERAL (SELECT count(*) > 0 AS requires,
                                        coalesce(bool_or(o.mfa_methods = %(resistant)s), false) AS resists
                                 FROM   memberships m
                                 JOIN   organizations o ON o.id = m.organization_id AND o.mfa_required
                                                         AND o.status <> 'deleting'
                                 WHERE  m.user_id = u.id AND {is_membership("m")}) AS asked
            WHERE  u.id = %(user_id)s
            """,
            {"user_id": user_id, "resistant": MfaMethods.PHISHING_RESISTANT},
        )


class PostgresBackupCodes(Aggregate):
    """The port `StoredBackupCodes`."""

    def replace(self, user_id: UUID, code_hashes: Sequence[bytes], *, at: datetime) -> None:
        self.remove(user_id)
        self._connection.execute_each(
            "INSERT INTO backup_codes (id, user_id, code_hash, created_at) VALUES (%s, %s, %s, %s)",
            [(self._transaction.randomness.new_id(), user_id, code_hash, at) for code_hash in code_hashes],
        )

    def use(self, user_id: UUID, code_hash: bytes, *, at: datetime) -> bool:
        return self._changes_one(
            "UPDATE backup_codes SET used_at = %s WHERE user_id = %s AND code_hash = %s AND used_at IS NULL",
            (at, user_id, code_hash),
        )

    def count_unused(self, user_id: UUID) -> int:
        return self._value("SELECT count(*) FROM backup_codes WHERE user_id = %s AND used_at IS NULL", (user_id,))

    def remove(self, user_id: UUID, *, made_since: datetime | None = None) -> None:
        self._connection.execute_later(
            "DELETE FROM backup_codes WHERE user_id = %s AND created_at >= coalesce(%s::timestamptz, '-infinity')",
            (user_id, made_since),
        )


class PostgresMfaEvents(Aggregate):
    """The port `MfaEvents`."""

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        self._connection.execute_later(
            """
            INSERT INTO mfa_events (id, user_id, event_type, success, ip_address, user_agent, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self._transaction.randomness.new_id(),
                user_id,
                event_type,
                is_success,
                self._transaction.origin.ip_address,
                self._transaction.origin.user_agent,
                Jsonb({**details, **self._transaction.impersonation}),
                self._transaction.now,
            ),
        )
