"""What the core asks of the stored accounts, in two ports: what anybody may read, and what nobody may list."""

from typing import Protocol
from uuid import UUID

from core.users import User


class Users(Protocol):
    """Accounts. None of these methods can see a secret."""

    def by_id(self, user_id: UUID) -> User | None:
        """Find an account."""
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


class Credentials(Protocol):
    """Secrets of accounts."""

    def set_password_hash(self, user_id: UUID, password_hash: str) -> None:
        """Store the encoded hash of a new password."""
        ...
