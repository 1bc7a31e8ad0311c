"""What the core asks of the stored accounts, in two ports: what anybody may read, and what nobody may list."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.passwords import StoredPassword
from core.accounts.users import User
from core.deferred import Deferred


class Users(Protocol):
    """Accounts. None of these methods can see a secret."""

    def by_id(self, user_id: UUID) -> User | None:
        """Find an account."""
        ...

    def lock(self, user_id: UUID) -> User | None:
        """Find an account, and let nobody else change it before this transaction ends."""
        ...

    def by_email(self, email: str) -> User | None:
        """Find the account of a normalized address."""
        ...

    def lock_by_email(self, email: str) -> User | None:
        """Find the account of a normalized address, and let nobody else change it before this transaction ends."""
        ...

    def add(self, user: User) -> bool:
        """Store a new account; False when the address is taken, also by a racer."""
        ...

    def lock_platform_owners(self) -> tuple[User, ...]:
        """List the platform owners and let nobody else add or remove one before this transaction ends."""
        ...

    def save(self, user: User) -> None:
        """Store the new state of an account that is locked; its address stays what it is."""
        ...

    def set_verified(self, user_id: UUID, *, at: datetime) -> None:
        """Mark the account's address as proved."""
        ...

    def set_email(self, user_id: UUID, email: str, *, verified_at: datetime | None, at: datetime) -> bool:
        """Give the account another address; False when the address is taken, also by a racer."""
        ...


class Credentials(Protocol):
    """Secrets of accounts."""

    def defer_password_of(self, email: str) -> Deferred[StoredPassword | None]:
        """Ask for the account of a normalized address with its password hash."""
        ...

    def lock(self, user_id: UUID) -> StoredPassword | None:
        """Find an account with its password hash, and let nobody else change either before this transaction ends."""
        ...

    def has_password(self, user_id: UUID) -> bool:
        """Say whether the account has a password."""
        ...

    def set_first_password_hash(self, user_id: UUID, password_hash: str) -> bool:
        """Store the encoded hash of a first password; False when the account has one, also from a racer."""
        ...

    def set_password_hash(self, user_id: UUID, password_hash: str) -> None:
        """Store the encoded hash of a new password."""
        ...

    def remove_password(self, user_id: UUID) -> None:
        """Leave the account without a password."""
        ...
