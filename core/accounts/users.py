"""Accounts: one per address on the whole platform. What an account signs in with is in the credential capabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import Conflict, NotFound

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person's account, without anything secret."""

    id: UUID
    email: str
    email_verified_at: datetime | None
    is_platform_owner: bool
    created_at: datetime
    updated_at: datetime
    deactivated_at: datetime | None = None
    mfa_enabled_at: datetime | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the person has proved that the address is theirs."""
        return self.email_verified_at is not None

    @property
    def is_active(self) -> bool:
        """Whether the account may be used at all."""
        return self.deactivated_at is None

    @property
    def has_mfa(self) -> bool:
        """Whether a second factor is asked for."""
        return self.mfa_enabled_at is not None

    def appointed(self, *, at: datetime) -> User:
        """Govern the platform; whoever appoints vouches for the address."""
        if not self.is_active:
            raise Conflict("This account is deactivated, and nobody could sign in with it.")
        return replace(self, is_platform_owner=True, email_verified_at=self.email_verified_at or at, updated_at=at)


class UserUnknown(NotFound):
    """No account has this id."""

    default_message = "There is no such person."


def lock_unless_anonymized(uow: UnitOfWork, user: User | None) -> User | None:
    """Give somebody who was found by what they said of themselves, and nobody once they are forgotten.

    Whoever is forgotten at this moment is waited for. Nobody else is before this transaction ends, so what it writes
    about them is found then. For nobody the same is done as for somebody.
    """
    is_known = uow.anonymization.hold(user.id if user is not None else uow.randomness.new_id())
    return user if is_known else None
