"""Locking and unlocking any account, for platform owners and support."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import locks as account_locks
from core.accounts import support_access
from core.accounts.locks import LockedBy
from core.accounts.support_access import RecordPart
from core.accounts.users import User
from core.events.actions import PlatformAction

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def show(uow: UnitOfWork, user_id: UUID) -> tuple[User, bool]:
    """Return an account that is about to be locked or unlocked, and whether its import has blocked it.

    Raise `UserUnknown`. What support opens is recorded.
    """
    user = support_access.open_record(uow, user_id, RecordPart.ACCOUNT)
    return user, is_blocked_by_import(uow, user)


def is_blocked_by_import(uow: UnitOfWork, user: User) -> bool:
    """Return whether an account was imported as blocked and still is."""
    return user.deactivated_at is not None and uow.users.is_blocked_by_import(user.id)


def lock(uow: UnitOfWork, user_id: UUID) -> None:
    """Lock an account, as `core/accounts/locks.py` says; raise `UserUnknown`."""
    user = support_access.lock(uow, user_id)
    account_locks.lock(uow, user, LockedBy.PLATFORM)
    uow.audit_platform(PlatformAction.USER_LOCKED, user.id)


def unlock(uow: UnitOfWork, user_id: UUID) -> bool:
    """Open an account again, and return whether its import had blocked it; raise `UserUnknown`.

    A locked account has no password until its person chooses one. An account that was imported as blocked keeps its
    password, and only platform owners open it. For an account that is both, this lifts only the lock: the decision to
    lift it says nothing about the block.
    """
    user = support_access.lock(uow, user_id)
    may_open = user.locked_at is None and uow.caller.acts_as_platform_owner
    was_blocked = may_open and uow.users.unblock_imported(user.id)
    if not was_blocked:
        account_locks.lift(uow, user, by=LockedBy.PLATFORM)
    uow.audit_platform(PlatformAction.USER_UNLOCKED, user.id)
    return was_blocked
