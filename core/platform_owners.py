"""Platform owners govern the whole installation. Here: how the first one comes to be, and how more are made by command.

Promotion and demotion through the interface belong to governance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.users import User, normalize_email

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Appointment:
    """A platform owner, and whether the account counts as new, so that the given password is theirs."""

    owner: User
    is_new_account: bool


def any_exists(uow: UnitOfWork) -> bool:
    """Say whether the platform has an owner already."""
    return bool(uow.users.lock_platform_owners())


def is_one(uow: UnitOfWork, email: str) -> bool:
    """Say whether the account of that address is a platform owner."""
    user = uow.users.by_email(normalize_email(email))
    return user is not None and user.is_platform_owner


def found(uow: UnitOfWork, email: str, password_hash: str) -> Appointment | None:
    """Make the first platform owner as `appoint` does; nothing when there is one, so that every start may call it."""
    if uow.users.lock_platform_owners():
        return None
    return appoint(uow, email, password_hash)


def appoint(uow: UnitOfWork, email: str, password_hash: str) -> Appointment:
    """Make a platform owner of that address: the account that has it, else a new one with this password.

    An account whose address is proved keeps its password.
    """
    uow.users.lock_platform_owners()
    address = normalize_email(email)
    user = User(
        id=uow.randomness.new_id(),
        email=address,
        email_verified_at=uow.now,
        is_platform_owner=True,
        created_at=uow.now,
        updated_at=uow.now,
    )
    if uow.users.add(user):
        uow.credentials.set_password_hash(user.id, password_hash)
        return Appointment(user, is_new_account=True)

    existing = uow.users.lock_by_email(address)
    assert existing is not None, "an address that is taken has an account"
    owner = existing.appointed(at=uow.now)
    uow.users.save(owner)
    if not existing.is_verified:
        # Anybody could have registered the address to wait for this; their password must not open it (decisions 3.13).
        uow.credentials.set_password_hash(owner.id, password_hash)
    return Appointment(owner, is_new_account=not existing.is_verified)
