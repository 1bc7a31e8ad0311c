"""Passkeys and challenges in the tables `passkeys` and `passkey_challenges`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.credentials.passkey_challenges import Purpose, StoredPasskeyChallenge
from core.credentials.passkeys import Passkey
from core.credentials.webauthn import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresPasskeys(Aggregate):
    """The port `Passkeys`."""

    def add(self, passkey: Passkey) -> bool:
        return (
            self._connection.execute(
                """
                INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, aaguid, transports,
                                      backup_eligible, verifies_user, created_at, last_used_at, domain_id)
                VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
                ON CONFLICT (credential_id) DO NOTHING
                """,
                (
                    passkey.id,
                    passkey.user_id,
                    passkey.credential_id,
                    passkey.public_key,
                    passkey.sign_count,
                    passkey.name,
                    passkey.aaguid,
                    [transport.value for transport in passkey.transports],
                    passkey.backup_eligible,
                    passkey.verifies_user,
                    passkey.created_at,
                    passkey.last_used_at,
                    passkey.domain_id,
                ),
            ).rowcount
            == 1
        )

    def of_user(self, user_id: UUID) -> Sequence[Passkey]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_passkey))
            .execute(
                """
                SELECT   id, user_id, credential_id, public_key, sign_count, name, aaguid, transports, backup_eligible,
                         verifies_user, created_at, last_used_at, domain_id
                FROM     passkeys
                WHERE    user_id = %s
                ORDER BY created_at, id
                """,
                (user_id,),
            )
            .fetchall()
        )

    def of_address(self, email: str) -> Sequence[Passkey]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_passkey))
            .execute(
                """
                SELECT   p.id, p.user_id, p.credential_id, p.public_key, p.sign_count, p.name, p.aaguid, p.transports,
                         p.backup_eligible, p.verifies_user, p.created_at, p.last_used_at, p.domain_id
                FROM     users u
                JOIN     passkeys p ON p.user_id = u.id
                WHERE    u.email = %s AND p.domain_id IS NOT DISTINCT FROM %s
                ORDER BY p.created_at, p.id
                """,
                (email, self._transaction.origin.domain_id),
            )
            .fetchall()
        )

    def by_credential_id(self, credential_id: bytes) -> Passkey | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_passkey))
            .execute(
                """
                SELECT id, user_id, credential_id, public_key, sign_count, name, aaguid, transports, backup_eligible,
                       verifies_user, created_at, last_used_at, domain_id
                FROM   passkeys
                WHERE  credential_id = %s AND domain_id IS NOT DISTINCT FROM %s
                """,
                (credential_id, self._transaction.origin.domain_id),
            )
            .fetchone()
        )

    def rename(self, passkey_id: UUID, name: str, *, user_id: UUID) -> Passkey | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_passkey))
            .execute(
                """
                UPDATE    passkeys
                SET       name = %s
                WHERE     id = %s AND user_id = %s
                RETURNING id, user_id, credential_id, public_key, sign_count, name, aaguid, transports, backup_eligible,
                          verifies_user, created_at, last_used_at, domain_id
                """,
                (name, passkey_id, user_id),
            )
            .fetchone()
        )

    def record_use(self, passkey_id: UUID, *, sign_count: int, is_user_verified: bool, at: datetime) -> bool:
        return (
            self._connection.execute(
                """
                UPDATE passkeys
                SET    sign_count = %(sign_count)s, last_used_at = %(at)s,
                       verifies_user = verifies_user OR %(is_user_verified)s
                WHERE  id = %(id)s
                  AND  (sign_count < %(sign_count)s OR (sign_count = 0 AND %(sign_count)s = 0))
                """,
                {"id": passkey_id, "sign_count": sign_count, "is_user_verified": is_user_verified, "at": at},
            ).rowcount
            == 1
        )

    def remove(self, passkey_id: UUID, *, user_id: UUID) -> Passkey | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_passkey))
            .execute(
                """
                DELETE FROM passkeys
                WHERE     id = %s AND user_id = %s
                RETURNING id, user_id, credential_id, public_key, sign_count, name, aaguid, transports, backup_eligible,
                          verifies_user, created_at, last_used_at, domain_id
                """,
                (passkey_id, user_id),
            )
            .fetchone()
        )

    def remove_all(self, user_id: UUID) -> int:
        return self._connection.execute("DELETE FROM passkeys WHERE user_id = %s", (user_id,)).rowcount


class PostgresPasskeyChallenges(Aggregate):
    """The port `PasskeyChallenges`."""

    def add(self, challenge: StoredPasskeyChallenge) -> None:
        self._connection.execute_later(
            """
            INSERT INTO passkey_challenges (id, purpose, user_id, challenge, created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                challenge.id,
                challenge.purpose,
                challenge.user_id,
                challenge.challenge,
                challenge.created_at,
                challenge.expires_at,
            ),
        )

    def use(
        self, challenge_id: UUID, purpose: Purpose, *, user_id: UUID | None, answered_by: UUID, at: datetime
    ) -> StoredPasskeyChallenge | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_challenge))
            .execute(
                """
                UPDATE    passkey_challenges
                SET       used_at = %(at)s
                WHERE     id = %(id)s AND purpose = %(purpose)s AND user_id IS NOT DISTINCT FROM %(user_id)s
                  AND     used_at IS NULL AND expires_at > %(at)s
                  AND     number > coalesce(
                              (SELECT passkey_challenges_ended FROM users WHERE id = %(answered_by)s), 0)
                RETURNING id, purpose, user_id, challenge, created_at, expires_at
                """,
                {
                    "id": challenge_id,
                    "purpose": purpose,
                    "user_id": user_id,
                    "answered_by": answered_by,
                    "at": at,
                },
            )
            .fetchone()
        )

    def remove_all(self, user_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM passkey_challenges WHERE user_id = %s", (user_id,))


def _passkey(*, transports: list[str], **columns: Any) -> Passkey:
    return Passkey(transports=[Transport(transport) for transport in transports], **columns)


def _challenge(*, purpose: str, **columns: Any) -> StoredPasskeyChallenge:
    return StoredPasskeyChallenge(purpose=Purpose(purpose), **columns)
