"""Second factors in the tables `totp_secrets` and `backup_codes`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.credentials.mfa import MfaStatus, TotpSecret
from core.secrets import Secret

_SEALED_COLUMN: Final = {"table": "totp_secrets", "column": "secret_sealed"}


class PostgresTotpSecrets(Aggregate):
    """The port `TotpSecrets`. `users.mfa_enabled_at` repeats whether codes are required, for every sign-in to see."""

    def status(self, user_id: UUID) -> MfaStatus:
        found = self._one(
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
        assert found is not None, "the user does not exist"
        return found

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
        self._connection.execute_later("UPDATE users SET mfa_enabled_at = %s WHERE id = %s", (at, user_id))

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
        self._connection.execute_later("DELETE FROM totp_secrets WHERE user_id = %s", (user_id,))
        return self._changes_one(
            "UPDATE users SET mfa_enabled_at = NULL WHERE id = %s AND mfa_enabled_at IS NOT NULL", (user_id,)
        )


class PostgresSecondFactors(Aggregate):
    """The port `SecondFactors`. Without codes, a passkey whose authenticator verifies its user is a second factor."""

    def are_required(self, user_id: UUID) -> bool:
        return self._finds_any(
            """
            SELECT
            FROM   users u
            WHERE  u.id = %s
              AND  (u.mfa_enabled_at IS NOT NULL
                    OR (EXISTS (SELECT FROM passkeys p WHERE p.user_id = u.id AND p.verifies_user)
                        AND EXISTS (SELECT
                                    FROM   memberships m
                                    JOIN   organizations o ON o.id = m.organization_id AND o.mfa_required
                                    WHERE  m.user_id = u.id)))
            """,
            (user_id,),
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
