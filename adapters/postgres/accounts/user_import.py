"""Bulk creation of accounts: all are copied into a temporary table, and from there the new ones into `users`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from adapters.postgres.transaction import Aggregate
from core.accounts.user_import import ImportedAccount


class PostgresUserImport(Aggregate):
    """The port `UserImport`."""

    def add_new(self, accounts: Sequence[ImportedAccount], *, at: datetime) -> int:
        self._copy(accounts)
        # In the order of the lines, so that the first line of an address counts. While an address is not proved, the
        # password is kept like a registration's, without an expiry.
        return self._value(
            """
            WITH added AS (
                INSERT   INTO users (id, email, email_verified_at, password_hash, created_at, updated_at, name,
                                     deactivated_at)
                SELECT   id, email, email_verified_at, password_hash, created_at, %s, name, deactivated_at
                FROM     pg_temp.imported_users
                ORDER BY line
                ON       CONFLICT (email) DO NOTHING
                RETURNING id, email, email_verified_at, password_hash, created_at, name
            ), unproved AS (
                INSERT INTO open_registrations (id, user_id, email, password_hash, data, created_at, name)
                SELECT id, id, email, password_hash, '{}', created_at, name
                FROM   added
                WHERE  email_verified_at IS NULL AND password_hash IS NOT NULL
            )
            SELECT count(*) FROM added
            """,
            (at,),
        )

    def _copy(self, accounts: Sequence[ImportedAccount]) -> None:
        self._connection.execute_later(
            """
            CREATE TEMPORARY TABLE imported_users (
                line              integer NOT NULL,
                id                uuid NOT NULL,
                email             text NOT NULL,
                email_verified_at timestamptz,
                password_hash     text,
                created_at        timestamptz NOT NULL,
                name              text,
                deactivated_at    timestamptz
            ) ON COMMIT DROP
            """
        )
        columns = "line, id, email, email_verified_at, password_hash, created_at, name, deactivated_at"
        copy_in = f"COPY pg_temp.imported_users ({columns}) FROM STDIN"
        with self._connection.copy(copy_in) as copy:
            for line, account in enumerate(accounts):
                user = account.user
                copy.write_row(
                    (
                        line,
                        user.id,
                        user.email,
                        user.email_verified_at,
                        account.password_hash,
                        user.created_at,
                        user.name,
                        user.deactivated_at,
                    )
                )
