"""Ending all sessions of an account, as a platform owner, as support, or by command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import RecordPart
from core.accounts.users import User, UserUnknown
from core.email_addresses import normalize_email
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.sessions import sessions
from core.sessions.sessions import SessionsChanged
from core.text import checked_reason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# The kinds are counted among so many sessions, the ones used last.
TOLD_APART_MAX: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsToEnd:
    """What ends with the sessions of an account, in numbers; `impersonations` are sessions of platform owners.

    The kinds are counted among `TOLD_APART_MAX` sessions at most.
    """

    user_id: UUID
    email: str
    total: int
    services: int
    impersonations: int


def show_all(uow: UnitOfWork, user_id: UUID) -> SessionsToEnd:
    """Return what `end_all` would end; raise `UserUnknown`. What support opens is recorded."""
    user = support_access.open_record(uow, user_id, RecordPart.SESSIONS)
    alive, total = uow.own_sessions.alive_of(user.id, limits=None, current_id=None, limit=TOLD_APART_MAX)
    return SessionsToEnd(
        user_id=user.id,
        email=user.email,
        total=total,
        services=len({one.service.id for one in alive if one.service is not None}),
        impersonations=sum(one.is_impersonation for one in alive),
    )


def end_all(uow: UnitOfWork, user_id: UUID) -> int:
    """End all sessions of an account, with effect from the next request, and return how many; raise `UserUnknown`.

    Impersonations, sign-ins that are not complete and a requested change of the address end as well.
    """
    return _end(uow, support_access.lock(uow, user_id))


def end_all_shown(uow: UnitOfWork, user_id: UUID, *, reason: str, seen: int) -> int:
    """End all sessions of an account after a page has shown their number, for a reason that the log keeps.

    Raise `BadRequest` without a reason, and `SessionsChanged` when there are fewer by now: a user that another person
    has helped, and who has signed in again, must not be signed out once more. Additional sessions do not matter, else a
    stranger could prevent this by signing in all the time.
    """
    reason = checked_reason(reason)
    user = support_access.lock(uow, user_id)
    _, total = uow.own_sessions.alive_of(user.id, limits=None, current_id=None, limit=1)
    if total < seen:
        raise SessionsChanged
    return _end(uow, user, reason=reason)


def end_all_of_address(uow: UnitOfWork, email: str) -> int:
    """End all sessions of the account with an address, as `end_all` does, by command; raise `UserUnknown`."""
    user = uow.users.lock_by_email(normalize_email(email, uow.domain_names.to_ascii))
    if user is None:
        raise UserUnknown("No account has this email address.")
    return _end(uow, user)


def _end(uow: UnitOfWork, user: User, *, reason: str | None = None) -> int:
    ended = sessions.end_all(uow, user.id, user.email)
    # Only platform owners read the log, because a reason may contain personal data of others.
    details: dict[str, Any] = {} if reason is None else {"reason": reason}
    uow.audit_platform(PlatformAction.USER_SESSIONS_ENDED, user.id, sessions=ended, **details)
    return ended
