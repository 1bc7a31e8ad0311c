"""Platform owners govern the whole installation. Here: how the first one comes to be, and how more are made by command.

Promotion and demotion through the interface belong to governance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import addresses, mfa
from core.errors import Conflict
from core.one_time_tokens import TokenPurpose
from core.users import User, normalize_email

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AddressPromised(Conflict):
    """The account that left the address may still have it back."""

    default_message = (
        "Another account had this address until a few days ago and may still have it back. Name the address that this"
        " account has now, or another one."
    )


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
        if addresses.is_promised(uow, user):
            raise AddressPromised
        uow.credentials.set_password_hash(user.id, password_hash)
        return Appointment(user, is_new_account=True)

    existing = uow.users.lock_by_email(address)
    assert existing is not None, "an address that is taken has an account"
    owner = existing.appointed(at=uow.now)
    if not existing.is_verified:
        # Anybody could have brought an account to this address to wait for this; nothing of theirs must open it or take
        # it away again (decisions 3.13).
        addresses.prove(uow, existing)
        uow.one_time_tokens.withdraw(owner.id, TokenPurpose.UNDO_EMAIL_CHANGE, at=uow.now)
        mfa.remove(uow, owner.id)
        uow.credentials.set_password_hash(owner.id, password_hash)
    uow.users.save(owner)
    return Appointment(owner, is_new_account=not existing.is_verified)
