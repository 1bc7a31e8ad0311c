"""Second factors, and sign-ins that wait for one, in their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import kwargs_row
from core.accounts.providers import Provider
from core.credentials.mfa import MfaStatus, TotpSecret
from core.secrets import Secret
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.proofs import Destination, Proof

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from adapters.crypto.vault import Vault
    from adapters.postgres.driver.connection import Connection
    from ports.clock import Randomness

_SEALED_COLUMN: Final = {"table": "totp_secrets", "column": "secret_sealed"}


class PostgresTotpSecrets:
    """The port `TotpSecrets`. That codes are asked for stands in the account too, where every sign-in sees it."""

    def __init__(self, connection: Connection, vault: Vault) -> None:
        self._connection = connection
        self._vault = vault

    def status(self, user_id: UUID) -> MfaStatus:
        """Say whether a second factor is asked for, and whether there are unused backup codes."""
        found = (
            self._connection.cursor(row_factory=kwargs_row(MfaStatus))
            .execute(
                """
                SELECT mfa_enabled_at IS NOT NULL AS enabled,
                       EXISTS (SELECT FROM backup_codes c WHERE c.user_id = u.id AND c.used_at IS NULL)
                           AS has_backup_codes
                FROM   users u
                WHERE  id = %s
                """,
                (user_id,),
            )
            .fetchone()
        )
        assert found is not None, "whoever asks has an account"
        return found

    def put_pending(self, user_id: UUID, secret: Secret, *, at: datetime) -> bool:
        """Store a secret that is not asked for yet, in place of another such; False when one is asked for."""
        sealed = self._vault.seal(secret.reveal().encode(), row=user_id, **_SEALED_COLUMN)
        return (
            self._connection.execute(
                """
                INSERT INTO totp_secrets (user_id, secret_sealed, created_at)
                VALUES (%s, %s, %s)
                ON CONFLICT (user_id) DO UPDATE
                SET    secret_sealed = excluded.secret_sealed, created_at = excluded.created_at
                WHERE  totp_secrets.enabled_at IS NULL
                """,
                (user_id, sealed, at),
            ).rowcount
            == 1
        )

    def lock(self, user_id: UUID) -> TotpSecret | None:
        """Find a person's secret, and let nobody else touch it before this transaction ends."""
        found = self._connection.execute(
            "SELECT secret_sealed, enabled_at FROM totp_secrets WHERE user_id = %s FOR UPDATE", (user_id,)
        ).fetchone()
        if found is None:
            return None
        sealed, enabled_at = found
        secret = self._vault.open(sealed, row=user_id, **_SEALED_COLUMN)
        return TotpSecret(secret=Secret(secret.decode()), enabled_at=enabled_at)

    def enable(self, user_id: UUID, *, at: datetime) -> None:
        """Ask for the secret's codes at every sign-in from now on."""
        self._connection.execute_later("UPDATE totp_secrets SET enabled_at = %s WHERE user_id = %s", (at, user_id))
        self._connection.execute_later("UPDATE users SET mfa_enabled_at = %s WHERE id = %s", (at, user_id))

    def use_step(self, user_id: UUID, step: int) -> bool:
        """Use a step of time up, and all before it; False when it was already."""
        return (
            self._connection.execute(
                """
                UPDATE totp_secrets
                SET    last_used_step = %s
                WHERE  user_id = %s AND (last_used_step IS NULL OR last_used_step < %s)
                """,
                (step, user_id, step),
            ).rowcount
            == 1
        )

    def remove(self, user_id: UUID) -> bool:
        """Delete a person's secret and ask for no codes; False when none were asked for."""
        self._connection.execute_later("DELETE FROM totp_secrets WHERE user_id = %s", (user_id,))
        return (
            self._connection.execute(
                "UPDATE users SET mfa_enabled_at = NULL WHERE id = %s AND mfa_enabled_at IS NOT NULL", (user_id,)
            ).rowcount
            == 1
        )


class PostgresBackupCodes:
    """The port `BackupCodes`."""

    def __init__(self, connection: Connection, randomness: Randomness) -> None:
        self._connection = connection
        self._randomness = randomness

    def replace(self, user_id: UUID, code_hashes: Sequence[bytes], *, at: datetime) -> None:
        """Store a set of codes in place of every earlier one."""
        self.remove(user_id)
        self._connection.execute_each(
            "INSERT INTO backup_codes (id, user_id, code_hash, created_at) VALUES (%s, %s, %s, %s)",
            [(self._randomness.new_id(), user_id, code_hash, at) for code_hash in code_hashes],
        )

    def use(self, user_id: UUID, code_hash: bytes, *, at: datetime) -> bool:
        """Use a code up; False when it is none of this person's or was used."""
        return (
            self._connection.execute(
                "UPDATE backup_codes SET used_at = %s WHERE user_id = %s AND code_hash = %s AND used_at IS NULL",
                (at, user_id, code_hash),
            ).rowcount
            == 1
        )

    def count_unused(self, user_id: UUID) -> int:
        """Count what a person has left."""
        found = self._connection.execute(
            "SELECT count(*) FROM backup_codes WHERE user_id = %s AND used_at IS NULL", (user_id,)
        ).fetchone()
        assert found is not None, "an aggregate has one row"
        return found[0]

    def remove(self, user_id: UUID, *, made_since: datetime | None = None) -> None:
        """Delete a person's codes, or those that were made since a moment."""
        self._connection.execute_later(
            "DELETE FROM backup_codes WHERE user_id = %s AND created_at >= coalesce(%s::timestamptz, '-infinity')",
            (user_id, made_since),
        )


class PostgresMfaChallenges:
    """The port `MfaChallenges`."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        self._connection = connection
        self._now = now

    def add(self, challenge: MfaChallenge) -> None:
        """Store a challenge."""
        proof, destination = challenge.proof, challenge.destination
        context = {
            "provider": proof.provider,
            "amr": proof.amr,
            "organization": destination.organization_slug,
            "service": destination.service_slug,
        }
        self._connection.execute_later(
            """
            INSERT INTO mfa_challenges (id, user_id, context, attempts, created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                challenge.id,
                proof.user_id,
                Jsonb(context),
                challenge.attempts,
                challenge.created_at,
                challenge.expires_at,
            ),
        )

    def lock(self, challenge_id: UUID) -> MfaChallenge | None:
        """Find a challenge that is neither used nor expired, and let nobody else answer it before this ends."""
        return (
            self._connection.cursor(row_factory=kwargs_row(_challenge))
            .execute(
                """
                SELECT id, user_id, context, attempts, created_at, expires_at
                FROM   mfa_challenges
                WHERE  id = %s AND used_at IS NULL AND expires_at > %s
                FOR UPDATE
                """,
                (challenge_id, self._now),
            )
            .fetchone()
        )

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code."""
        self._connection.execute_later(
            "UPDATE mfa_challenges SET attempts = attempts + 1 WHERE id = %s", (challenge_id,)
        )

    def use(self, challenge_id: UUID) -> None:
        """Use a challenge up."""
        self._connection.execute_later(
            "UPDATE mfa_challenges SET used_at = %s WHERE id = %s", (self._now, challenge_id)
        )

    def void_all(self, user_id: UUID) -> None:
        """Use up every challenge of a person."""
        self._connection.execute_later(
            "UPDATE mfa_challenges SET used_at = %s WHERE user_id = %s AND used_at IS NULL", (self._now, user_id)
        )


def _challenge(*, user_id: UUID, context: dict[str, Any], **columns: Any) -> MfaChallenge:
    return MfaChallenge(
        proof=Proof(user_id=user_id, provider=Provider(context["provider"]), amr=tuple(context["amr"])),
        destination=Destination(organization_slug=context["organization"], service_slug=context["service"]),
        **columns,
    )
