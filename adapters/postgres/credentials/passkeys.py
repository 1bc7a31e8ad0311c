"""Passkeys and challenges in the tables `passkeys` and `passkey_challenges`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, converted, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.credentials.passkey_challenges import Purpose, StoredPasskeyChallenge
from core.credentials.passkeys import Passkey
from core.credentials.webauthn import Transport

_challenge: Final = converted(StoredPasskeyChallenge, purpose=Purpose)
# Of a passkey `p`.
_COLUMNS: Final = columns(Passkey, table="p")


class PostgresPasskeys(Aggregate):
    """The port `Passkeys`."""

    def add(self, passkey: Passkey) -> bool:
        return self._changes_one(
            f"""
            INSERT INTO passkeys ({columns(Passkey)})
            VALUES ({placeholders(Passkey)})
            ON CONFLICT (credential_id) DO NOTHING
            """,
            values(passkey),
        )

    def of_user(self, user_id: UUID) -> Sequence[Passkey]:
        return self._all(
            _passkey,
            f"SELECT {_COLUMNS} FROM passkeys p WHERE p.user_id = %s ORDER BY p.created_at, p.id",
            (user_id,),
        )

    def of_address(self, email: str) -> Sequence[Passkey]:
        return self._all(
            _passkey,
            f"""
            SELECT   {_COLUMNS}
            FROM     users u
            JOIN     passkeys p ON p.user_id = u.id
            WHERE    u.email = %s AND p.domain_id IS NOT DISTINCT FROM %s
            ORDER BY p.created_at, p.id
            """,
            (email, self._transaction.origin.domain_id),
        )

    def by_credential_id(self, credential_id: bytes) -> Passkey | None:
        return self._one(
            _passkey,
            f"SELECT {_COLUMNS} FROM passkeys p WHERE p.credential_id = %s AND p.domain_id IS NOT DISTINCT FROM %s",
            (credential_id, self._transaction.origin.domain_id),
        )

    def rename(self, passkey_id: UUID, name: str, *, user_id: UUID) -> Passkey | None:
        return self._one(
            _passkey,
            f"UPDATE passkeys p SET name = %s WHERE p.id = %s AND p.user_id = %s RETURNING {_COLUMNS}",
            (name, passkey_id, user_id),
        )

    def set_second_factor(self, passkey_id: UUID, at: datetime | None, *, user_id: UUID) -> Passkey | None:
        return self._one(
            _passkey,
            f"""
            UPDATE    passkeys p
            SET       second_factor_at = CASE WHEN %(at)s::timestamptz IS NOT NULL
                                              THEN coalesce(p.second_factor_at, %(at)s) END
            WHERE     p.id = %(id)s AND p.user_id = %(user_id)s
            RETURNING {_COLUMNS}
            """,
            {"id": passkey_id, "user_id": user_id, "at": at},
        )

    def record_use(self, passkey_id: UUID, *, sign_count: int, is_user_verified: bool, at: datetime) -> bool:
        return self._changes_one(
            """
            UPDATE passkeys
            SET    sign_count = %(sign_count)s, last_used_at = %(at)s,
                   verifies_user = verifies_user OR %(is_user_verified)s
            WHERE  id = %(id)s
              AND  (sign_count < %(sign_count)s OR (sign_count = 0 AND %(sign_count)s = 0))
            """,
            {"id": passkey_id, "sign_count": sign_count, "is_user_verified": is_user_verified, "at": at},
        )

    def remove(self, passkey_id: UUID, *, user_id: UUID) -> Passkey | None:
        return self._one(
            _passkey,
            f"DELETE FROM passkeys p WHERE p.id = %s AND p.user_id = %s RETURNING {_COLUMNS}",
            (passkey_id, user_id),
        )

    def remove_all(self, user_id: UUID, *, but_factors_before: datetime | None = None) -> int:
        return self._connection.execute(
            """
            DELETE FROM passkeys
            WHERE  user_id = %s AND coalesce(second_factor_at, 'infinity') >= coalesce(%s::timestamptz, '-infinity')
            """,
            (user_id, but_factors_before),
        ).rowcount

    def keep_as_factors(self, user_id: UUID) -> None:
        self._connection.execute_later("UPDATE passkeys SET begins_sign_ins = false WHERE user_id = %s", (user_id,))

    def remove_from_factors(self, user_id: UUID) -> None:
        self._connection.execute_later(
            "UPDATE passkeys SET second_factor_at = NULL WHERE user_id = %s AND second_factor_at IS NOT NULL",
            (user_id,),
        )


class PostgresPasskeyChallenges(Aggregate):
    """The port `PasskeyChallenges`."""

    def add(self, challenge: StoredPasskeyChallenge) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO passkey_challenges ({columns(StoredPasskeyChallenge)})
            VALUES ({placeholders(StoredPasskeyChallenge)})
            """,
            values(challenge),
        )

    def use(
        self, challenge_id: UUID, purpose: Purpose, *, user_id: UUID | None, answered_by: UUID, at: datetime
    ) -> StoredPasskeyChallenge | None:
        return self._one(
            _challenge,
            f"""
            UPDATE    passkey_challenges
            SET       used_at = %(at)s
            WHERE     id = %(id)s AND purpose = %(purpose)s AND user_id IS NOT DISTINCT FROM %(user_id)s
              AND     used_at IS NULL AND expires_at > %(at)s
              AND     number > coalesce(
                          (SELECT passkey_challenges_ended FROM users WHERE id = %(answered_by)s), 0)
            RETURNING {columns(StoredPasskeyChallenge)}
            """,
            {
                "id": challenge_id,
                "purpose": purpose,
                "user_id": user_id,
                "answered_by": answered_by,
                "at": at,
            },
        )

    def remove_all(self, user_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM passkey_challenges WHERE user_id = %s", (user_id,))


def _passkey(*, transports: list[str], **columns: Any) -> Passkey:
    return Passkey(transports=[Transport(transport) for transport in transports], **columns)
