"""Platform owners govern the whole installation: how the first one comes to be, and how others follow and go.

By command anybody is appointed whose address is given; through the interface owners promote and demote each other.
Whoever changes who governs holds one lock, so there is always somebody who does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `PlatformOwner`
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.accounts import addresses
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User, UserUnknown
from core.credentials import mfa
from core.email_addresses import normalize_email
from core.errors import BadRequest, Conflict, Forbidden, NotFound
from core.events.platform_actions import PlatformAction
from core.organizations.access import authorize_platform

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class OwnerAddressPromised(Conflict):
    """The account that left the address may still have it back."""

    default_message = (
        "Another account had this address until a few days ago and may still have it back. Name the address that this"
        " account has now, or another one."
    )


class NotAPlatformOwner(NotFound):
    """No platform owner has this id."""

    default_message = "There is no such platform owner."


class AlreadyPlatformOwner(Conflict):
    """There is nothing to promote to."""

    default_message = "This person is a platform owner already."


class CannotGovern(Conflict):
    """Nobody has proved that the account is the one that is meant."""

    default_message = "This person has not verified their email address yet. Promote them when they have."


class CannotDemoteYourself(BadRequest):
    """So the last one stays as well."""

    default_message = "You cannot demote yourself. Another platform owner can do it; the last one stays."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOwner:
    """Somebody who was promoted."""

    id: UUID
    email: str
    is_platform_owner: bool
    created_at: datetime


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
        if addresses.is_reserved(uow, user):
            raise OwnerAddressPromised
        uow.credentials.set_password_hash(user.id, password_hash)
        return Appointment(user, is_new_account=True)

    existing = uow.users.lock_by_email(address)
    assert existing is not None, "an address that is taken has an account"
    owner = existing.appointed(at=uow.now)
    if not existing.is_verified:
        # Anybody could have brought an account to this address to wait for this; nothing of theirs must open it or take
        # it away again (decisions 3.13).
        addresses.mark_proved(uow, existing)
        uow.one_time_tokens.withdraw(owner.id, TokenPurpose.UNDO_EMAIL_CHANGE, at=uow.now)
        mfa.remove(uow, owner.id)
        uow.credentials.set_password_hash(owner.id, password_hash)
    uow.users.save(owner)
    return Appointment(owner, is_new_account=not existing.is_verified)


def promote(uow: UnitOfWork, user_id: UUID) -> PlatformOwner:
    """Let somebody govern the platform, from their very next request on."""
    authorize_platform(uow)
    _lock_owners(uow)
    user = uow.users.lock(user_id)
    if user is None:
        raise UserUnknown
    if user.is_platform_owner:
        raise AlreadyPlatformOwner
    promoted = user.appointed(at=uow.now)
    if not user.is_verified:
        # Anybody could have registered the address; unlike by command, nobody here has said which one is meant.
        raise CannotGovern
    uow.users.save(promoted)
    # Nobody acts as a platform owner, and who began to do so before is out.
    uow.sessions.end_impersonations(promoted.id)
    uow.audit_platform(PlatformAction.OWNER_PROMOTED, promoted.id)
    return PlatformOwner(
        id=promoted.id,
        email=promoted.email,
        is_platform_owner=promoted.is_platform_owner,
        created_at=promoted.created_at,
    )


def demote(uow: UnitOfWork, user_id: UUID) -> None:
    """Let a platform owner govern no longer, from this moment on; whoever they act as they no longer do."""
    caller = authorize_platform(uow)
    if user_id == caller.user_id:
        raise CannotDemoteYourself
    # The caller is one of those who stay, so there is always one.
    _lock_owners(uow)
    owner = uow.users.lock(user_id)
    if owner is None or not owner.is_platform_owner:
        raise NotAPlatformOwner
    uow.users.save(replace(owner, is_platform_owner=False, updated_at=uow.now))
    # Ended for good, and not only for as long as they are no owner.
    uow.sessions.end_impersonations(owner.id)
    uow.audit_platform(PlatformAction.OWNER_DEMOTED, owner.id)


def _lock_owners(uow: UnitOfWork) -> None:
    """Let nobody else change who governs; of two who demote each other at once the second is no owner any more."""
    caller = uow.caller
    if not any(owner.id == caller.user_id and owner.is_active for owner in uow.users.lock_platform_owners()):
        raise Forbidden("Only a platform owner can do this.")
