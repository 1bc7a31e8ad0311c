"""Lifting the limits of an account or an address: on failed sign-ins, and on mails.

Each process keeps the limits of client networks in memory; they end within seconds, and nothing lifts them. The limits
of mails to an address from one network end within an hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import sign_in_failures, support_access
from core.accounts.users import User
from core.email_addresses import normalize_email
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.organizations.authorization import authorize_support

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftedLimits:
    """What no longer counts: failed sign-ins, and kinds of mail that were sent lately."""

    failed_sign_ins: int
    mail_counts: int


def lift(uow: UnitOfWork, user_id: UUID) -> LiftedLimits:
    """Lift the limits of an account's address; raise `UserUnknown`."""
    return _lift_of_user(uow, support_access.lock(uow, user_id))


def lift_of_address(uow: UnitOfWork, email: str) -> LiftedLimits:
    """Lift the limits of an address, whether or not an account has it.

    Support lifts none of a platform owner's address, and gets the answer for an address that has met no limit.
    """
    authorize_support(uow)
    address = normalize_email(email, uow.domain_names.to_ascii)
    user = uow.users.by_email(address)
    support_access.lock_helper(uow, *([user.id] if user is not None else []))
    # Behind the lock, because the user may have been promoted meanwhile.
    user = uow.users.by_email(address)
    if user is not None and not support_access.sees(uow.caller, user):
        return LiftedLimits(failed_sign_ins=0, mail_counts=0)
    return _lift(uow, address, user)


def lift_by_command(uow: UnitOfWork, email: str) -> LiftedLimits:
    """Lift the limits of an address, whether or not an account has it, by command."""
    address = normalize_email(email, uow.domain_names.to_ascii)
    return _lift(uow, address, uow.users.by_email(address))


def _lift(uow: UnitOfWork, address: str, user: User | None) -> LiftedLimits:
    if user is not None:
        return _lift_of_user(uow, user)
    return _forget(
        uow, address, PlatformAction.ADDRESS_LIMITS_LIFTED, sign_in_failures.hash_address(uow, address).hex()
    )


def _lift_of_user(uow: UnitOfWork, user: User) -> LiftedLimits:
    return _forget(uow, user.email, PlatformAction.USER_LIMITS_LIFTED, user.id)


def _forget(uow: UnitOfWork, address: str, action: PlatformAction, target_id: UUID | str) -> LiftedLimits:
    lifted = LiftedLimits(
        failed_sign_ins=uow.sign_in_failures.remove_all(sign_in_failures.hash_address(uow, address)),
        mail_counts=mail.lift_limits(uow, address),
    )
    uow.audit_platform(action, target_id, failed_sign_ins=lifted.failed_sign_ins, mail_counts=lifted.mail_counts)
    return lifted
