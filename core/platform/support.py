"""The platform's support: people who help the users of the platform without governing it.

Platform owners appoint and demote them. An appointment gives power only while the address is verified and the account
has a second factor, and only in sessions that began with one; when the second factor ends, the appointment ends for
good (`core/organizations/platform_support.py`). What support may open and do is in `core/accounts/support_access.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.accounts.users import UserUnknown
from core.email_addresses import normalize_email
from core.errors import Conflict, NotFound
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import authorize_platform
from core.platform import owners
from core.platform.owners import ListedPlatformOwner
from core.text import checked_reason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NotPlatformSupport(NotFound):
    """No user with this id is of the platform's support."""

    default_message = "This user does not belong to the platform's support."


class AlreadyPlatformSupport(Conflict):
    """The user is of the platform's support already."""

    default_message = "This user belongs to the platform's support already."


class SupportIsOwner(Conflict):
    """A platform owner may do all that support may."""

    default_message = "This user is a platform owner, who may do all that support may. Demote them first."


class SupportUnverified(Conflict):
    """The address is not verified, so the account may belong to the wrong person."""

    default_message = "This user has not verified their email address. Appoint them after they have."


class SupportWithoutSecondFactor(Conflict):
    """The account has no second factor."""

    default_message = (
        "This user has no second factor. Ask them to turn on multi-factor authentication on their account's page, then"
        " appoint them."
    )


class SupportDeactivated(Conflict):
    """The account is deactivated or closed."""

    default_message = "This account is deactivated and cannot sign in. Choose another one."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSupport:
    """A user of the platform's support; this has effect while the address is verified and MFA is enabled.

    `appointed_at` is None when it was not recorded.
    """

    id: UUID
    email: str
    name: str | None
    email_verified: bool
    mfa_enabled: bool
    created_at: datetime
    appointed_at: datetime | None


def list_all(uow: UnitOfWork) -> Sequence[PlatformSupport]:
    """List the people of the platform's support by their addresses, as a platform owner."""
    authorize_platform(uow)
    return uow.platform_support.all()


def list_staff(uow: UnitOfWork) -> tuple[Sequence[ListedPlatformOwner], Sequence[PlatformSupport]]:
    """List the platform owners and the people of the support, each by their addresses, as a platform owner."""
    return owners.list_all(uow), list_all(uow)


def find(uow: UnitOfWork, user_id: UUID) -> PlatformSupport:
    """Return a person of the platform's support, as a platform owner; raise `NotPlatformSupport`."""
    found = next((person for person in list_all(uow) if person.id == user_id), None)
    if found is None:
        raise NotPlatformSupport
    return found


def appoint(uow: UnitOfWork, email: str) -> PlatformSupport:
    """Appoint the user with an address to the platform's support, from their next request on, and return them.

    Raise `UserUnknown` for an address without an account, and `Conflict` for an account that cannot be appointed.
    """
    authorize_platform(uow)
    owners.lock_owners(uow)
    user = uow.users.lock_by_email(normalize_email(email, uow.domain_names.to_ascii))
    if user is None:
        raise UserUnknown(owners.ADDRESS_WITHOUT_ACCOUNT)
    if not user.is_active:
        raise SupportDeactivated
    if user.is_platform_owner:
        raise SupportIsOwner
    if not user.is_verified or user.is_disowned:
        raise SupportUnverified
    if not user.has_mfa:
        raise SupportWithoutSecondFactor
    if not uow.platform_support.add(user.id):
        raise AlreadyPlatformSupport
    uow.audit_platform(PlatformAction.SUPPORT_APPOINTED, user.id)
    return PlatformSupport(
        id=user.id,
        email=user.email,
        name=user.name,
        email_verified=user.is_verified,
        mfa_enabled=user.has_mfa,
        created_at=user.created_at,
        appointed_at=uow.now,
    )


def demote(uow: UnitOfWork, user_id: UUID, reason: str | None = None) -> None:
    """Take a user out of the platform's support, from their next request on; raise `NotPlatformSupport`.

    A reason is recorded.
    """
    authorize_platform(uow)
    given: dict[str, Any] = {} if reason is None else {"reason": checked_reason(reason)}
    owners.lock_owners(uow)
    # Waits for what the user does as support at this moment.
    uow.users.lock(user_id)
    if not uow.users.end_support(user_id):
        raise NotPlatformSupport
    uow.audit_platform(PlatformAction.SUPPORT_DEMOTED, user_id, **given)
