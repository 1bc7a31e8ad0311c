"""Sessions: one for each sign-in, alive until it is ended or has lasted long enough, and asked about at every request.

How a session begins is in `sign_in.py`, how it goes on is in `sessions_refresh.py`; here is what it is, how people see
theirs, and how sessions end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID  # noqa: TC003 - the reference is made from the fields of `SessionItem`

from core.errors import NotFound
from core.events import person_events
from core.events.events import EventType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ports.unit_of_work import UnitOfWork

IDLE_LIFETIME: Final = timedelta(days=30)
ABSOLUTE_LIFETIME: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One sign-in. `refreshed_at` is when it was used last, `expires_at` the end of its absolute lifetime."""

    id: UUID
    user_id: UUID
    organization_id: UUID | None
    service_id: UUID | None
    device_id: UUID | None
    provider: str
    amr: list[str]
    authenticated_at: datetime
    refreshed_at: datetime
    expires_at: datetime
    ip_address: str | None
    user_agent: str | None
    impersonator_id: UUID | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionItem:
    """A session as its person sees it."""

    id: UUID
    provider: str
    ip_address: str | None
    user_agent: str | None
    device_id: UUID | None
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    is_current: bool


def list_mine(uow: UnitOfWork) -> Sequence[SessionItem]:
    """List the caller's sessions that are alive, the one used last first."""
    caller = uow.caller
    return [
        SessionItem(
            id=session.id,
            provider=session.provider,
            ip_address=session.ip_address,
            user_agent=session.user_agent,
            device_id=session.device_id,
            created_at=session.created_at,
            last_used_at=session.refreshed_at,
            expires_at=min(session.expires_at, session.refreshed_at + IDLE_LIFETIME),
            is_current=session.id == caller.session_id,
        )
        for session in uow.sessions.alive_of(caller.user_id)
    ]


def end_mine(uow: UnitOfWork, session_id: UUID) -> None:
    """End one of the caller's sessions, this one included."""
    caller = uow.caller
    caller.forbid_impersonated()
    ended = uow.sessions.revoke(session_id, user_id=caller.user_id)
    if not ended:
        raise NotFound("You have no such session.")
    record_ended(uow, caller.user_id, caller.email, ended)


def end_my_others(uow: UnitOfWork) -> int:
    """End every session of the caller but this one; say how many those were."""
    caller = uow.caller
    caller.forbid_impersonated()
    return end_all(uow, caller.user_id, caller.email, except_session_id=caller.session_id)


def end_all(uow: UnitOfWork, user_id: UUID, email: str, *, except_session_id: UUID | None = None) -> int:
    """End the sessions of a person, who may be somebody else than the caller; say how many those were.

    With them go those that the person began in the name of others, and which nobody would find in a list of theirs.
    """
    ended = uow.sessions.revoke_all(user_id, except_session_id=except_session_id)
    uow.sessions.end_impersonations(user_id)
    record_ended(uow, user_id, email, ended)
    return len(ended)


def log_out(uow: UnitOfWork) -> None:
    """End the session that this request came with."""
    caller = uow.caller
    # Of two requests at once one ends it, and only that is worth telling.
    if uow.sessions.revoke(caller.session_id, user_id=caller.user_id):
        person_events.publish(
            uow, EventType.USER_LOGOUT, caller.user_id, caller.email, organization_id=caller.organization_id
        )


def record_ended(uow: UnitOfWork, user_id: UUID, email: str, contexts: Iterable[UUID | None], **data: str) -> None:
    """Say that sessions were ended, to each organization how many of those that had begun in it."""
    for organization_id, sessions in Counter(contexts).items():
        person_events.publish(
            uow,
            EventType.SESSION_REVOKED,
            user_id,
            email,
            organization_id=organization_id,
            sessions=sessions,
            **data,
        )
