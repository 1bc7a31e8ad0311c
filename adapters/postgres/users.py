"""Accounts and their secrets in the table `users`, as two ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.rows import class_row

from core.users import User

if TYPE_CHECKING:
    from uuid import UUID

    from adapters.postgres.pool import Connection


class PostgresUsers:
    """The port `Users`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def by_id(self, user_id: UUID) -> User | None:
        """Find an account."""
        return (
            self._connection.cursor(row_factory=class_row(User))
            .execute(
                """
                SELECT id, email, email_verified_at, is_platform_owner, created_at, updated_at, deactivated_at
                FROM   users
                WHERE  id = %s
                """,
                (user_id,),
            )
            .fetchone()
        )

    def by_email(self, email: str) -> User | None:
        """Find the account of a normalized address."""
        return (
            self._connection.cursor(row_factory=class_row(User))
            .execute(
                """
                SELECT id, email, email_verified_at, is_platform_owner, created_at, updated_at, deactivated_at
                FROM   users
                WHERE  email = %s
                """,
                (email,),
            )
            .fetchone()
        )

    def lock_by_email(self, email: str) -> User | None:
        """Find the account of a normalized address, and let nobody else change it before this transaction ends."""
        return (
            self._connection.cursor(row_factory=class_row(User))
            .execute(
                """
                SELECT id, email, email_verified_at, is_platform_owner, created_at, updated_at, deactivated_at
                FROM   users
                WHERE  email = %s
                FOR UPDATE
                """,
                (email,),
            )
            .fetchone()
        )

    def add(self, user: User) -> bool:
        """Store a new account; False when the address is taken."""
        return (
            self._connection.execute(
                """
                INSERT INTO users (id, email, email_verified_at, is_platform_owner, created_at, updated_at)
                VALUES (%s, %s, %s, %s, %s, %s)
                ON CONFLICT (email) DO NOTHING
                """,
                (
                    user.id,
                    user.email,
                    user.email_verified_at,
                    user.is_platform_owner,
                    user.created_at,
                    user.updated_at,
                ),
            ).rowcount
            == 1
        )

    def lock_platform_owners(self) -> tuple[User, ...]:
        """List the platform owners and let nobody else add or remove one before this transaction ends."""
        # An advisory lock, because the first owner has no row yet that could be locked.
        self._connection.execute("SELECT pg_advisory_xact_lock(hashtext('gatehouse.platform_owners'))")
        return tuple(
            self._connection.cursor(row_factory=class_row(User)).execute(
                """
                SELECT   id, email, email_verified_at, is_platform_owner, created_at, updated_at, deactivated_at
                FROM     users
                WHERE    is_platform_owner
                ORDER BY id
                """
            )
        )

    def save(self, user: User) -> None:
        """Store the new state of an account that is locked; its address stays what it is."""
        self._connection.execute(
            """
            UPDATE users
            SET    email_verified_at = %s, is_platform_owner = %s, updated_at = %s, deactivated_at = %s
            WHERE  id = %s
            """,
            (user.email_verified_at, user.is_platform_owner, user.updated_at, user.deactivated_at, user.id),
        )


class PostgresCredentials:
    """The port `Credentials`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def set_password_hash(self, user_id: UUID, password_hash: str) -> None:
        """Store the encoded hash of a new password."""
        self._connection.execute("UPDATE users SET password_hash = %s WHERE id = %s", (password_hash, user_id))
