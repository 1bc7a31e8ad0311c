"""One-time tokens in the table `one_time_tokens`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class PostgresOneTimeTokens(Aggregate):
    """The port `OneTimeTokens`."""

    def add(self, token: OneTimeToken, token_hash: bytes) -> None:
        self._connection.execute_later(
            """
            INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, data, created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                token_hash,
                token.purpose,
                token.user_id,
                token.email,
                Jsonb(token.data),
                token.created_at,
                token.expires_at,
            ),
        )

    def find(self, token_hash: bytes, purpose: TokenPurpose) -> OneTimeToken | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_one_time_token))
            .execute(
                """
                SELECT purpose, user_id, email, data, created_at, expires_at, used_at
                FROM   one_time_tokens
                WHERE  token_hash = %s AND purpose = %s
                """,
                (token_hash, purpose),
            )
            .fetchone()
        )

    def use(self, token_hash: bytes, purpose: TokenPurpose, *, at: datetime) -> OneTimeToken | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_one_time_token))
            .execute(
                """
                UPDATE one_time_tokens
                SET    used_at = %s
                WHERE  token_hash = %s AND purpose = %s AND used_at IS NULL AND expires_at > %s
                RETURNING purpose, user_id, email, data, created_at, expires_at, used_at
                """,
                (at, token_hash, purpose, at),
            )
            .fetchone()
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

    def has_valid_token_at(self, email: str, purpose: TokenPurpose, *, besides_user_id: UUID, at: datetime) -> bool:
        row = self._connection.execute(
            """
            SELECT FROM one_time_tokens
            WHERE  email = %s AND purpose = %s AND user_id <> %s AND used_at IS NULL AND expires_at > %s
            LIMIT  1
            """,
            (email, purpose, besides_user_id, at),
        )
        return row.fetchone() is not None


def _one_time_token(*, purpose: str, **columns: Any) -> OneTimeToken:
    return OneTimeToken(purpose=TokenPurpose(purpose), **columns)
