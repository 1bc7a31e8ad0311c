"""Platform owners: creating the first one, appointing more by command, listing, promoting and demoting them.

The command appoints the account with any address; through the API and the console, platform owners promote and demote
each other. Every change of the platform owners takes one lock, so that at least one always remains, and is an entry of
the platform's audit log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import addresses
from core.accounts.users import User, UserUnknown, find_or_add
from core.email_addresses import normalize_email
from core.errors import BadRequest, Conflict, Forbidden, NotFound
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.organizations import platform_support
from core.organizations.authorization import authorize_platform
from core.text import checked_reason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# For an address that a platform owner has typed: they may know which accounts exist.
ADDRESS_WITHOUT_ACCOUNT: Final = "No account has this email address. Check the spelling, or ask the person to register."


class NotAPlatformOwner(NotFound):
    """No platform owner has this id."""

    default_message = "There is no such platform owner."


class AlreadyPlatformOwner(Conflict):
    """The user is already a platform owner."""

    default_message = "This user is already a platform owner."


class OwnerUnverified(Conflict):
    """The account's address is not verified, so it may belong to the wrong person."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPlatformOwner:
    """A platform owner and their second factor; `appointed_at` is None when it was not recorded."""

    id: UUID
    email: str
    name: str | None
    email_verified: bool
    mfa_enabled: bool
    is_active: bool
    created_at: datetime
    appointed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerDemotion:
    """Another platform owner, for the caller to demote, and how many with usable accounts would remain."""

    owner: ListedPlatformOwner
    remaining: int


@dataclass(frozen=True, slots=True)
class Appointment:
    """An appointed platform owner; if `is_new_account`, the given password is the account's password."""

    owner: User
    is_new_account: bool


def any_exists(uow: UnitOfWork) -> bool:
    """Return whether there is a platform owner."""
    return bool(uow.users.lock_platform_owners())


def active(uow: UnitOfWork) -> tuple[User, ...]:
    """Return the platform owners with usable accounts."""
    return tuple(owner for owner in uow.users.lock_platform_owners() if owner.is_active)


def is_platform_owner(uow: UnitOfWork, email: str) -> bool:
    """Return whether the account with this address is a platform owner."""
    user = uow.users.by_email(normalize_email(email, uow.domain_names.to_ascii))
    return user is not None and user.is_platform_owner


def appoint_first(uow: UnitOfWork, email: str, password_hash: str) -> Appointment | None:
    """Appoint the first platform owner; return None when there is one already, so that every start may call this."""
    if uow.users.lock_platform_owners():
        return None
    return appoint(uow, email, password_hash)


def appoint(uow: UnitOfWork, email: str, password_hash: str) -> Appointment:
    """Make the account with an address a platform owner, or create one with this password.

    An account whose address is verified keeps its password.
    """
    uow.users.lock_platform_owners()
    address = normalize_email(email, uow.domain_names.to_ascii)
    user = User(
        id=uow.randomness.new_account_id(),
        email=address,
        email_verified_at=uow.now,
        is_platform_owner=True,
        created_at=uow.now,
        updated_at=uow.now,
    )
    existing, is_new = find_or_add(uow, user)
    if is_new:
        uow.credentials.set_password_hash(user.id, password_hash)
        uow.audit_platform(PlatformAction.OWNER_PROMOTED, user.id)
        return Appointment(user, is_new_account=True)

    owner = existing.appointed(at=uow.now)
    if not existing.is_verified:
        # An attacker could have registered this address beforehand, so the proof ends everything set up before it.
        addresses.mark_proved(uow, existing)
        uow.credentials.set_password_hash(owner.id, password_hash)
    uow.users.save(owner)
    if not existing.is_platform_owner:
        _record_promotion(uow, owner.id)
    return Appointment(owner, is_new_account=not existing.is_verified)


def list_all(uow: UnitOfWork) -> Sequence[ListedPlatformOwner]:
    """List the platform owners by their addresses, as a platform owner."""
    authorize_platform(uow)
    return uow.platform_owners.all()


def promote(uow: UnitOfWork, user_id: UUID) -> PlatformOwner:
    """Make a user a platform owner, from their next request on."""
    authorize_platform(uow)
    lock_owners(uow)
    user = uow.users.lock(user_id)
    if user is None:
        raise UserUnknown
    return _promote(uow, user)


def promote_by_address(uow: UnitOfWork, email: str) -> PlatformOwner:
    """Make the user with an address a platform owner, as `promote` does.

    Raise `UserUnknown` for an address without an account, and `Conflict` for an account that cannot be promoted.
    """
    authorize_platform(uow)
    lock_owners(uow)
    user = uow.users.lock_by_email(normalize_email(email, uow.domain_names.to_ascii))
    if user is None:
        raise UserUnknown(ADDRESS_WITHOUT_ACCOUNT)
    return _promote(uow, user)


def _promote(uow: UnitOfWork, user: User) -> PlatformOwner:
    if user.is_platform_owner:
        raise AlreadyPlatformOwner
    promoted = user.appointed(at=uow.now)
    if not user.is_verified or user.is_disowned:
        # An attacker could have registered the address. Unlike the command, a platform owner does not vouch for it.
        raise OwnerUnverified
    uow.users.save(promoted)
    _record_promotion(uow, promoted.id)
    return PlatformOwner(
        id=promoted.id,
        email=promoted.email,
        is_platform_owner=promoted.is_platform_owner,
        created_at=promoted.created_at,
    )


def _record_promotion(uow: UnitOfWork, user_id: UUID) -> None:
    """End the support appointment and impersonations of a new platform owner, and record the promotion."""
    # An owner may do all that support may, and a demoted one is neither.
    platform_support.end_appointment(uow, user_id, reason="promoted")
    # Platform owners cannot be impersonated, so sessions that impersonate this user end.
    uow.sessions.end_impersonations(user_id)
    uow.audit_platform(PlatformAction.OWNER_PROMOTED, user_id)


def show_demotion(uow: UnitOfWork, user_id: UUID) -> OwnerDemotion:
    """Return a platform owner before a demotion; raise `NotAPlatformOwner` or `CannotDemoteYourself`."""
    _require_other(uow, user_id)
    present = uow.platform_owners.all()
    owner = next((one for one in present if one.id == user_id), None)
    if owner is None:
        raise NotAPlatformOwner
    return OwnerDemotion(owner=owner, remaining=sum(one.is_active for one in present if one is not owner))


def demote(uow: UnitOfWork, user_id: UUID, reason: str | None = None) -> None:
    """Make a platform owner an ordinary user at once, and end their impersonations; a reason is recorded."""
    _require_other(uow, user_id)
    given: dict[str, Any] = {} if reason is None else {"reason": checked_reason(reason)}
    # The caller stays a platform owner, so there is always one.
    lock_owners(uow)
    owner = uow.users.lock(user_id)
    if owner is None or not owner.is_platform_owner:
        raise NotAPlatformOwner
    uow.users.save(replace(owner, is_platform_owner=False, updated_at=uow.now))
    # Ended for good, so that they do not work again after another promotion.
    uow.sessions.end_impersonations(owner.id)
    uow.audit_platform(PlatformAction.OWNER_DEMOTED, owner.id, **given)


def _require_other(uow: UnitOfWork, user_id: UUID) -> None:
    """Authorize a platform owner for another account than their own."""
    if user_id == authorize_platform(uow).account.id:
        raise CannotDemoteYourself


def lock_owners(uow: UnitOfWork) -> None:
    """Lock the platform owners; refuse a caller who was demoted in the meantime."""
    caller = uow.caller
    if not any(owner.id == caller.account.id and owner.is_active for owner in uow.users.lock_platform_owners()):
        raise Forbidden("Only a platform owner can do this.")
