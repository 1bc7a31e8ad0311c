"""One-time tokens in the table `one_time_tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import columns, converted, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose

_one_time_token: Final = converted(OneTimeToken, purpose=TokenPurpose)


class PostgresOneTimeTokens(Aggregate):
    """The port `OneTimeTokens`."""

    def add(self, token: OneTimeToken, token_hash: bytes) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO one_time_tokens ({columns(OneTimeToken)}, token_hash)
            VALUES ({placeholders(OneTimeToken)}, %(token_hash)s)
            """,
            values(token) | {"token_hash": token_hash},
        )

    def add_each(self, tokens: Sequence[tuple[OneTimeToken, bytes]]) -> None:
        self._connection.execute_later(
            """
            INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, data, created_at, expires_at)
            SELECT *
            FROM   unnest(%s::bytea[], %s::text[], %s::uuid[], %s::text[], %s::jsonb[], %s::timestamptz[],
                          %s::timestamptz[])
            """,
            (
                [token_hash for _, token_hash in tokens],
                [token.purpose for token, _ in tokens],
                [token.user_id for token, _ in tokens],
                [token.email for token, _ in tokens],
                [Jsonb(token.data) for token, _ in tokens],
                [token.created_at for token, _ in tokens],
                [token.expires_at for token, _ in tokens],
            ),
        )

    def find(self, token_hash: bytes, purpose: TokenPurpose) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"SELECT {columns(OneTimeToken)} FROM one_time_tokens WHERE token_hash = %s AND purpose = %s",
            (token_hash, purpose),
        )

    def by_challenge(self, challenge_id: UUID) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"SELECT {columns(OneTimeToken)} FROM one_time_tokens WHERE challenge_id = %s",
            (challenge_id,),
        )

    def lock_challenge(self, challenge_id: UUID) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"SELECT {columns(OneTimeToken)} FROM one_time_tokens WHERE challenge_id = %s FOR UPDATE",
            (challenge_id,),
        )

    def count_wrong_code(self, challenge_id: UUID) -> None:
        self._connection.execute_later(
            "UPDATE one_time_tokens SET wrong_codes = wrong_codes + 1 WHERE challenge_id = %s", (challenge_id,)
        )

    def use_challenge(self, challenge_id: UUID, *, at: datetime) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"""
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  challenge_id = %s AND used_at IS NULL AND expires_at > %s
            RETURNING {columns(OneTimeToken)}
            """,
            (at, challenge_id, at),
        )

    def undo_of(self, user_id: UUID, email: str, *, at: datetime) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"""
            SELECT   {columns(OneTimeToken)}
            FROM     one_time_tokens
            WHERE    user_id = %s AND email = %s AND purpose = %s AND used_at IS NULL AND expires_at > %s
            ORDER BY created_at DESC
            LIMIT    1
            """,
            (user_id, email, TokenPurpose.UNDO_EMAIL_CHANGE, at),
        )

    def use_undo_of(self, user_id: UUID, email: str, *, at: datetime) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"""
            UPDATE one_time_tokens
            SET    used_at = %(at)s
            WHERE  token_hash = (SELECT   token_hash
                                 FROM     one_time_tokens
                                 WHERE    user_id = %(user_id)s AND email = %(email)s AND purpose = %(purpose)s
                                   AND    used_at IS NULL AND expires_at > %(at)s
                                 ORDER BY created_at DESC
                                 LIMIT    1)
              AND  used_at IS NULL
            RETURNING {columns(OneTimeToken)}
            """,
            {"user_id": user_id, "email": email, "purpose": TokenPurpose.UNDO_EMAIL_CHANGE, "at": at},
        )

    def use(self, token_hash: bytes, purpose: TokenPurpose, *, at: datetime) -> OneTimeToken | None:
        return self._one(
            _one_time_token,
            f"""
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  token_hash = %s AND purpose = %s AND used_at IS NULL AND expires_at > %s
            RETURNING {columns(OneTimeToken)}
            """,
            (at, token_hash, purpose, at),
        )

    def withdraw(
        self, user_id: UUID, purpose: TokenPurpose, *, at: datetime, issued_since: datetime | None = None
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  user_id = %s
              AND  purpose = %s
              AND  used_at IS NULL
              AND  created_at >= coalesce(%s::timestamptz, '-infinity')
            """,
            (at, user_id, purpose, issued_since),
        )

    def withdraw_of_registration(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  user_id = %s AND purpose = %s AND used_at IS NULL AND data ->> 'registration_id' = %s
            """,
            (at, user_id, TokenPurpose.VERIFY_EMAIL, str(registration_id)),
        )

    def drop_email_change(self, user_id: UUID, *, at: datetime) -> None:
        self.withdraw(user_id, TokenPurpose.CHANGE_EMAIL, at=at)
        self.withdraw(user_id, TokenPurpose.DROP_EMAIL_CHANGE, at=at)
