"""Ending all sessions of an account, as a platform owner, as support, or by command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import helped_accounts
from core.accounts.users import UserUnknown
from core.email_addresses import normalize_email
from core.events.platform_actions import PlatformAction
from core.sessions import sessions

if TYPE_CHECKING:
    from uuid import UUID

    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork


def end_all(uow: UnitOfWork, user_id: UUID) -> int:
    """End all sessions of an account, with effect from the next request, and return how many; raise `UserUnknown`.

    Impersonations, sign-ins that are not complete and a requested change of the address end as well.
    """
    return _end(uow, helped_accounts.lock(uow, user_id))


def end_all_of_address(uow: UnitOfWork, email: str) -> int:
    """End all sessions of the account of an address, as `end_all` does, by command; raise `UserUnknown`."""
    user = uow.users.lock_by_email(normalize_email(email, uow.domain_names.to_ascii))
    if user is None:
        raise UserUnknown("No account has this email address.")
    return _end(uow, user)


def _end(uow: UnitOfWork, user: User) -> int:
    ended = sessions.end_all(uow, user.id, user.email)
    uow.audit_platform(PlatformAction.USER_SESSIONS_ENDED, user.id, sessions=ended)
    return ended
