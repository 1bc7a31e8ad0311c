"""Accounts and their password hashes in the table `users`, as two ports.

The ids by which organizations know accounts are in the table `known_account_ids`. Triggers on memberships and links
end them, and give one to an account whose own id means another user there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from psycopg.errors import UniqueViolation

from adapters.postgres.driver.columns import columns, values
from adapters.postgres.transaction import Aggregate
from core.accounts.passwords import StoredPassword
from core.accounts.users import User
from core.parts import in_parts

if TYPE_CHECKING:
    from core.deferred import Deferred


_ACCOUNT: Final = f"SELECT {columns(User)} FROM users"
_STORED: Final = f"SELECT {columns(User)}, password_hash FROM users"
# From each kind of hash to the next by the index `users_other_password_hashes`, so that a million imported accounts
# take no longer than one. Our own parameters, which the hasher knows, are not in it.
_DECOYS: Final = """
    WITH RECURSIVE kinds AS (
        (SELECT   password_decoy(password_hash) AS decoy
         FROM     users
         WHERE    password_hash NOT LIKE '$argon2id$v=19$m=19456,t=2,p=1$%%'
           AND    password_decoy(password_hash) IS NOT NULL
         ORDER BY password_decoy(password_hash)
         LIMIT    1)
        UNION ALL
        SELECT (SELECT   password_decoy(password_hash)
                FROM     users
                WHERE    password_hash NOT LIKE '$argon2id$v=19$m=19456,t=2,p=1$%%'
                  AND    password_decoy(password_hash) > kinds.decoy
                ORDER BY password_decoy(password_hash)
                LIMIT    1)
        FROM   kinds
        WHERE  kinds.decoy IS NOT NULL
    )
    SELECT decoy FROM kinds WHERE decoy IS NOT NULL
"""
# Not FOR UPDATE, which would also wait for every transaction that writes a row referring to the account.
_LOCKED: Final = "FOR NO KEY UPDATE"
_ADD: Final = """
    INSERT INTO users (id, email, email_verified_at, is_platform_owner, created_at, updated_at, name, language,
                       unproved_since, password_hash)
    VALUES (%(id)s, %(email)s, %(email_verified_at)s, %(is_platform_owner)s, %(created_at)s, %(updated_at)s, %(name)s,
            %(language)s, %(unproved_since)s, %(password_hash)s)
    ON CONFLICT (email) DO NOTHING
"""
_BLOCKED_BY_IMPORT: Final = """
    id = %s AND deactivated_at IS NOT NULL AND anonymized_at IS NULL AND deactivated_by_organization_id IS NULL
"""


class PostgresUsers(Aggregate):
    """The port `Users`."""

    def by_id(self, user_id: UUID) -> User | None:
        return self._one(User, f"{_ACCOUNT} WHERE id = %s", (user_id,))

    def lock(self, user_id: UUID) -> User | None:
        return self.defer_lock(user_id)()

    def defer_lock(self, user_id: UUID) -> Deferred[User | None]:
        return self._defer_one(User, f"{_ACCOUNT} WHERE id = %s {_LOCKED}", (user_id,))

    def by_email(self, email: str) -> User | None:
        return self._one(User, f"{_ACCOUNT} WHERE email = %s", (email,))

    def lock_by_email(self, email: str) -> User | None:
        return self._one(User, f"{_ACCOUNT} WHERE email = %s {_LOCKED}", (email,))

    def add(self, user: User) -> bool:
        return self._changes_one(_ADD, _added(user))

    def lock_platform_owners(self) -> tuple[User, ...]:
        # An advisory lock, because before the first owner there is no row to lock.
        self._connection.execute_later("SELECT pg_advisory_xact_lock(hashtext('gatehouse.platform_owners'))")
        return tuple(self._all(User, f"{_ACCOUNT} WHERE is_platform_owner ORDER BY created_at, id"))

    def save(self, user: User) -> None:
        self._connection.execute_later(
            """
            UPDATE users
            SET    email_verified_at = %s, is_platform_owner = %s, updated_at = %s, deactivated_at = %s
            WHERE  id = %s
            """,
            (user.email_verified_at, user.is_platform_owner, user.updated_at, user.deactivated_at, user.id),
        )

    def end_support(self, user_id: UUID) -> bool:
        return self._changes_one(
            "UPDATE users SET is_platform_support = false WHERE id = %s AND is_platform_support", (user_id,)
        )

    def set_closed(self, user_id: UUID, *, at: datetime | None) -> None:
        self._connection.execute_later("UPDATE users SET closed_at = %s WHERE id = %s", (at, user_id))

    def is_blocked_by_import(self, user_id: UUID) -> bool:
        return self._value(f"SELECT EXISTS (SELECT 1 FROM users WHERE {_BLOCKED_BY_IMPORT})", (user_id,))

    def unblock_imported(self, user_id: UUID) -> bool:
        return self._changes_one(f"UPDATE users SET deactivated_at = NULL WHERE {_BLOCKED_BY_IMPORT}", (user_id,))

    def set_locked(self, user_id: UUID, *, at: datetime | None) -> None:
        self._connection.execute_later("UPDATE users SET locked_at = %s WHERE id = %s", (at, user_id))

    def remove(self, user_id: UUID) -> None:
        self._connection.execute_later("DELETE FROM users WHERE id = %s", (user_id,))

    def set_verified(self, user_id: UUID, *, at: datetime) -> None:
        self._connection.execute_later(
            "UPDATE users SET email_verified_at = %s, updated_at = %s WHERE id = %s", (at, at, user_id)
        )

    def set_name(self, user_id: UUID, name: str | None, *, at: datetime, was_asked: bool) -> None:
        self._connection.execute_later(
            "UPDATE users SET name = %s, name_asked_at = %s, updated_at = %s WHERE id = %s",
            (name, at if was_asked and name is None else None, at, user_id),
        )

    def set_language(self, user_id: UUID, language: str) -> None:
        self._connection.execute_later("UPDATE users SET language = %s WHERE id = %s", (language, user_id))

    def set_changed_by_service(self, user_id: UUID, *, at: datetime | None) -> None:
        self._connection.execute_later("UPDATE users SET changed_by_service_at = %s WHERE id = %s", (at, user_id))

    def count_wrong_mailed_code(self, user_id: UUID, codes_max: int) -> None:
        self._connection.execute_later(
            "UPDATE users SET wrong_mailed_codes = least(wrong_mailed_codes + 1, %s) WHERE id = %s",
            (codes_max, user_id),
        )

    def forget_wrong_mailed_codes(self, user_id: UUID) -> None:
        self._connection.execute_later("UPDATE users SET wrong_mailed_codes = 0 WHERE id = %s", (user_id,))

    def set_email(self, user_id: UUID, email: str, *, verified_at: datetime | None, at: datetime) -> bool:
        try:
            # A savepoint, because a concurrent transaction is only detected by the unique index, which raises an error.
            with self._connection.transaction():
                self._connection.execute_later(
                    """
                    UPDATE users
                    SET    email = %s, email_verified_at = %s, email_changed_at = %s, disowned_at = NULL,
                           disowned_by_organization_id = NULL, updated_at = %s
                    WHERE  id = %s
                    """,
                    (email, verified_at, at, at, user_id),
                )
        except UniqueViolation:
            return False
        return True


class PostgresCredentials(Aggregate):
    """The port `Credentials`."""

    def defer_password_of(self, email: str) -> Deferred[StoredPassword | None]:
        return self._defer_one(_stored_password, f"{_STORED} WHERE email = %s", (email,))

    def defer_decoys(self) -> Deferred[Sequence[str]]:
        return self._defer_values(_DECOYS)

    def count_by_decoy(self) -> Sequence[tuple[str, int]]:
        return self._connection.execute(
            """
            SELECT   password_decoy(password_hash), count(*)
            FROM     users
            WHERE    password_hash NOT LIKE '$argon2id$v=19$m=19456,t=2,p=1$%%'
              AND    password_decoy(password_hash) IS NOT NULL
            GROUP BY password_decoy(password_hash)
            """
        ).fetchall()

    def lock(self, user_id: UUID) -> StoredPassword | None:
        return self.defer_lock(user_id)()

    def defer_lock(self, user_id: UUID) -> Deferred[StoredPassword | None]:
        return self._defer_one(_stored_password, f"{_STORED} WHERE id = %s {_LOCKED}", (user_id,))

    def has_password(self, user_id: UUID) -> bool:
        return self._finds_any("SELECT FROM users WHERE id = %s AND password_hash IS NOT NULL", (user_id,))

    def set_first_password_hash(self, user_id: UUID, password_hash: str) -> bool:
        return self._changes_one(
            "UPDATE users SET password_hash = %s WHERE id = %s AND password_hash IS NULL", (password_hash, user_id)
        )

    def defer_add_unproved(self, user: User, password_hash: str) -> Deferred[bool]:
        unproved = {"unproved_since": user.created_at, "password_hash": password_hash}
        return self._defer_changes_one(_ADD, _added(user) | unproved)

    def set_password_hash(self, user_id: UUID, password_hash: str | None) -> None:
        self._connection.execute_later("UPDATE users SET password_hash = %s WHERE id = %s", (password_hash, user_id))

    def remove_password(self, user_id: UUID) -> None:
        self._connection.execute_later("UPDATE users SET password_hash = NULL WHERE id = %s", (user_id,))


def _added(user: User) -> dict[str, Any]:
    """Return the values of `_ADD` for an account whose address is proved, without a password."""
    return values(user) | {"unproved_since": None, "password_hash": None}


def _stored_password(*, password_hash: str | None, **columns: Any) -> StoredPassword:
    return StoredPassword(user=User(**columns), password_hash=password_hash)


OTHERS: Final = """
    SELECT known_id, user_id
    FROM   known_account_ids
    WHERE  organization_id = %s AND known_id = ANY (%s) AND user_id IS NOT NULL
"""


class PostgresKnownIds(Aggregate):
    """The port `KnownIds`."""

    def defer_accounts(self, organization_id: UUID, ids: Collection[UUID]) -> Deferred[Mapping[UUID, UUID]]:
        rows = self._connection.cursor(binary=True).defer(OTHERS, (organization_id, list(ids)))
        return lambda: {one: one for one in ids} | dict(rows.fetchall())

    def accounts(self, organization_id: UUID, ids: Collection[UUID]) -> frozenset[UUID]:
        others: dict[UUID, UUID] = {}
        for part in in_parts(ids):
            others.update(self._connection.cursor(binary=True).execute(OTHERS, (organization_id, part)).fetchall())
        # Organizations hardly ever know an account by another id than its own.
        return frozenset(others.get(one, one) for one in ids) if others else frozenset(ids)

    def defer_shown(self, organization_id: UUID, user_id: UUID) -> Deferred[UUID]:
        return self._defer_value_or_none(
            """
            SELECT coalesce((SELECT known_id FROM known_account_ids WHERE organization_id = %s AND user_id = %s), %s)
            """,
            (organization_id, user_id, user_id),
        )
