"""Platform owners: creating the first one, appointing more by command, promoting and demoting.

The command appoints the account of any address; through the API, platform owners promote and demote each other. Every
change of the platform owners takes one lock, so there is always at least one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `PlatformOwner`
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.accounts import addresses
from core.accounts.users import User, UserUnknown, find_or_add
from core.email_addresses import normalize_email
from core.errors import BadRequest, Conflict, Forbidden, NotFound
from core.events.platform_actions import PlatformAction
from core.organizations import platform_support
from core.organizations.access import authorize_platform

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NotAPlatformOwner(NotFound):
    """No platform owner has this id."""

    default_message = "There is no such platform owner."


class AlreadyPlatformOwner(Conflict):
    """The user is already a platform owner."""

    default_message = "This user is already a platform owner."


class OwnerUnverified(Conflict):
    """The account's address is not verified, so it may belong to another person than is meant."""

    default_message = "This user has not verified their email address yet. Promote them after they have."


class CannotDemoteYourself(BadRequest):
    """Platform owners cannot demote themselves, so there is always one."""

    default_message = "You cannot demote yourself. Ask another platform owner; the last one cannot be demoted."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOwner:
    """A user who was promoted to platform owner."""

    id: UUID
    email: str
    is_platform_owner: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Appointment:
    """An appointed platform owner; if `is_new_account`, the given password is the account's password."""

    owner: User
    is_new_account: bool


def any_exists(uow: UnitOfWork) -> bool:
    """Return whether there is a platform owner."""
    return bool(uow.users.lock_platform_owners())


def active(uow: UnitOfWork) -> tuple[User, ...]:
    """Return the platform owners whose accounts may be used."""
    return tuple(owner for owner in uow.users.lock_platform_owners() if owner.is_active)


def is_platform_owner(uow: UnitOfWork, email: str) -> bool:
    """Return whether the account of this address is a platform owner."""
    user = uow.users.by_email(normalize_email(email, uow.domain_names.to_ascii))
    return user is not None and user.is_platform_owner


def appoint_first(uow: UnitOfWork, email: str, password_hash: str) -> Appointment | None:
    """Appoint the first platform owner; return None when there is one, so that every start may call this."""
    if uow.users.lock_platform_owners():
        return None
    return appoint(uow, email, password_hash)


def appoint(uow: UnitOfWork, email: str, password_hash: str) -> Appointment:
    """Make the account of an address a platform owner, or create one with this password.

    An account whose address is verified keeps its password.
    """
    uow.users.lock_platform_owners()
    address = normalize_email(email, uow.domain_names.to_ascii)
    user = User(
        id=uow.randomness.new_id(),
        email=address,
        email_verified_at=uow.now,
        is_platform_owner=True,
        created_at=uow.now,
        updated_at=uow.now,
    )
    existing, is_new = find_or_add(uow, user)
    if is_new:
        uow.credentials.set_password_hash(user.id, password_hash)
        return Appointment(user, is_new_account=True)

    owner = existing.appointed(at=uow.now)
    if not existing.is_verified:
        # An attacker could have claimed this address beforehand (decisions 3.13).
        addresses.mark_proved(uow, existing)
        uow.credentials.set_password_hash(owner.id, password_hash)
    uow.users.save(owner)
    return Appointment(owner, is_new_account=not existing.is_verified)


def promote(uow: UnitOfWork, user_id: UUID) -> PlatformOwner:
    """Make a user a platform owner, from their next request on."""
    authorize_platform(uow)
    lock_owners(uow)
    user = uow.users.lock(user_id)
    if user is None:
        raise UserUnknown
    if user.is_platform_owner:
        raise AlreadyPlatformOwner
    promoted = user.appointed(at=uow.now)
    if not user.is_verified:
        # An attacker could have registered the address; the caller named an id and not, as by command, an address.
        raise OwnerUnverified
    uow.users.save(promoted)
    # An owner may do all that support may, and a demoted one is neither.
    platform_support.end_appointment(uow, user.id, reason="promoted")
    # Platform owners cannot be impersonated, so sessions that impersonate this user end.
    uow.sessions.end_impersonations(promoted.id)
    uow.audit_platform(PlatformAction.OWNER_PROMOTED, promoted.id)
    return PlatformOwner(
        id=promoted.id,
        email=promoted.email,
        is_platform_owner=promoted.is_platform_owner,
        created_at=promoted.created_at,
    )


def demote(uow: UnitOfWork, user_id: UUID) -> None:
    """Make a platform owner an ordinary user at once, and end their impersonations."""
    caller = authorize_platform(uow)
    if user_id == caller.user_id:
        raise CannotDemoteYourself
    # The caller stays a platform owner, so there is always one.
    lock_owners(uow)
    owner = uow.users.lock(user_id)
    if owner is None or not owner.is_platform_owner:
        raise NotAPlatformOwner
    uow.users.save(replace(owner, is_platform_owner=False, updated_at=uow.now))
    # Ended for good, so that they do not work again if the user is promoted again.
    uow.sessions.end_impersonations(owner.id)
    uow.audit_platform(PlatformAction.OWNER_DEMOTED, owner.id)


def lock_owners(uow: UnitOfWork) -> None:
    """Lock the platform owners; refuse a caller who was demoted in the meantime."""
    caller = uow.caller
    if not any(owner.id == caller.user_id and owner.is_active for owner in uow.users.lock_platform_owners()):
        raise Forbidden("Only a platform owner can do this.")
