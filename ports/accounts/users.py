"""Ports for stored accounts: one without secrets, and one for password hashes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.passwords import StoredPassword
from core.accounts.users import User
from core.deferred import Deferred


class Users(Protocol):
    """Accounts. None of these methods reads a secret."""

    def by_id(self, user_id: UUID) -> User | None:
        """Return an account; None when there is none."""
        ...

    def lock(self, user_id: UUID) -> User | None:
        """Return an account, locked until this transaction ends; None when there is none."""
        ...

    def defer_lock(self, user_id: UUID) -> Deferred[User | None]:
        """Defer `lock`: what is deferred after it is read behind the lock."""
        ...

    def by_email(self, email: str) -> User | None:
        """Return the account of a normalized address; None when there is none."""
        ...

    def lock_by_email(self, email: str) -> User | None:
        """Return the account of a normalized address, locked until this transaction ends; None when there is none."""
        ...

    def add(self, user: User) -> bool:
        """Store a new account; False when the address is taken, also by a concurrent transaction."""
        ...

    def lock_platform_owners(self) -> tuple[User, ...]:
        """Return the platform owners; another transaction cannot add or remove one before this transaction ends."""
        ...

    def save(self, user: User) -> None:
        """Store the new state of a locked account, except its address."""
        ...

    def end_support(self, user_id: UUID) -> bool:
        """End the appointment of an account to the platform's support; False when it has none."""
        ...

    def set_closed(self, user_id: UUID, *, at: datetime | None) -> None:
        """Close an account, or reopen it with None."""
        ...

    def is_blocked_by_import(self, user_id: UUID) -> bool:
        """Return whether an account was deactivated by an import, not by an organization or by anonymization."""
        ...

    def unblock_imported(self, user_id: UUID) -> bool:
        """Activate an account that is blocked by its import; return whether it was."""
        ...

    def set_locked(self, user_id: UUID, *, at: datetime | None) -> None:
        """Store since when an account is locked, or unlock it with None."""
        ...

    def remove(self, user_id: UUID) -> None:
        """Delete an account with everything that refers to it; the logs keep what it did."""
        ...

    def set_verified(self, user_id: UUID, *, at: datetime) -> None:
        """Mark the account's address as proved."""
        ...

    def set_name(self, user_id: UUID, name: str | None, *, at: datetime, was_asked: bool) -> None:
        """Store the name of an account, or remove it with None; then `was_asked` says not to ask for one again."""
        ...

    def set_language(self, user_id: UUID, language: str) -> None:
        """Store the language of an account."""
        ...

    def count_wrong_mailed_code(self, user_id: UUID, codes_max: int) -> None:
        """Count a wrong code of a sign-in mail, up to `codes_max`; do nothing when the account does not exist."""
        ...

    def forget_wrong_mailed_codes(self, user_id: UUID) -> None:
        """Reset the count of wrong codes of sign-in mails."""
        ...

    def set_changed_by_service(self, user_id: UUID, *, at: datetime | None) -> None:
        """Record that the token of a service changed how the account signs in; None when that is undone."""
        ...

    def set_email(self, user_id: UUID, email: str, *, verified_at: datetime | None, at: datetime) -> bool:
        """Change the address of an account; return False when it is taken, also by a concurrent transaction.

        An account that was disowned is so no longer.
        """
        ...


class Credentials(Protocol):
    """Password hashes of accounts."""

    def defer_password_of(self, email: str) -> Deferred[StoredPassword | None]:
        """Defer reading the account of a normalized address with its password hash; None when there is none."""
        ...

    def defer_decoys(self) -> Deferred[Sequence[str]]:
        """Defer reading one hash for each kind of hash that is not of our own parameters.

        A kind is a scheme with its parameters. No password matches these hashes, and comparing one costs the same.
        """
        ...

    def count_by_decoy(self) -> Sequence[tuple[str, int]]:
        """Return each decoy with the number of accounts that have a hash of its kind; this reads all accounts."""
        ...

    def lock(self, user_id: UUID) -> StoredPassword | None:
        """Return an account with its password hash, locked until this transaction ends; None when there is none."""
        ...

    def defer_lock(self, user_id: UUID) -> Deferred[StoredPassword | None]:
        """Defer `lock`: what is deferred after it is read behind the lock."""
        ...

    def has_password(self, user_id: UUID) -> bool:
        """Return whether the account exists and has a password."""
        ...

    def set_first_password_hash(self, user_id: UUID, password_hash: str) -> bool:
        """Store the encoded hash of a first password; False when there is one, also from a concurrent transaction."""
        ...

    def defer_add_unproved(self, user: User, password_hash: str) -> Deferred[bool]:
        """Defer what `Users.add` does, for an account with a password whose address is not proved.

        Housekeeping deletes it later, unless its address is proved or something refers to it.
        """
        ...

    def set_password_hash(self, user_id: UUID, password_hash: str | None) -> None:
        """Store the encoded hash of a new password; None for no password."""
        ...

    def remove_password(self, user_id: UUID) -> None:
        """Remove the account's password."""
        ...
