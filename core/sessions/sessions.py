"""Sessions: one for each sign-in, alive until it is revoked or expires, and checked at every request.

Sessions begin in `core/sign_in/conclusion.py` and are refreshed in `refresh.py`. This module defines a session, lists a
user's sessions and ends sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Conflict, NotFound
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.sessions.caller_limits import Act, Confinement
from core.sessions.callers import Caller

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Authentication methods (RFC 8176): a one-time password, and that more than one factor was proved; and a mailed code or
# link, for which the RFC has no name.
OTP: Final = "otp"
MFA: Final = "mfa"
MAILED: Final = "email"
IDLE_LIFETIME: Final = timedelta(days=30)
ABSOLUTE_LIFETIME: Final = timedelta(days=90)


class SessionsChanged(Conflict):
    """Sessions that a page has shown have ended since."""

    default_message = (
        "Some of these sessions have ended meanwhile, perhaps because another person helps as well. Look at the numbers"
        " below, and end the rest if that is still right."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session. `refreshed_at` is the time of its last use, `expires_at` the end of its absolute lifetime.

    `bounded_until` is the end that the identity provider named when it signed its user in; None without one.

    The session of an impersonation names the platform owner and the session that began it, and ends with that. So does
    the child of a browser session, which names its parent.
    """

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
    impersonator_session_id: UUID | None = None
    parent_id: UUID | None = None
    customer_id: UUID | None = None
    confinement: Confinement | None = None
    bounded_until: datetime | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentSession:
    """A live session from which another one is to begin, with the limits of that one if this is a browser session.

    `domain_organization_id` is the organization of the custom domain under which it began.
    """

    caller: Caller
    bounded_until: datetime | None
    domain_organization_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSession:
    """The user of a session that an organization has ended for many users at once."""

    user_id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedImpersonation:
    """An impersonation that has ended: the user as which its platform owner acted, and its organization."""

    session_id: UUID
    user_id: UUID
    organization_id: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionItem:
    """A session, as its user sees it."""

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
    """List the caller's live sessions within the limits of this one, the most recently used first."""
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
            is_current=session.id == caller.session.id,
        )
        for session in shown_to(uow, caller)
    ]


def shown_to(uow: UnitOfWork, caller: Caller) -> Sequence[Session]:
    """List the caller's live sessions, as far as the session of this request shows them."""
    alive, limits = uow.sessions.alive_of(caller.account.id), caller.shown_within
    if limits is None:
        return alive
    return [
        one
        for one in alive
        if one.id == caller.session.id
        or limits.covers(one.confinement, one.organization_id, one.service_id, one.customer_id)
    ]


def end_mine(uow: UnitOfWork, session_id: UUID) -> None:
    """End one of the caller's sessions, possibly the current one; raise `NotFound` when they have no such session.

    A session with limits ends none beyond them. The refusal of a service's token says where its user can; a confined
    session does not even learn of the others.
    """
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    if caller.shown_within is not None and session_id not in {one.id for one in shown_to(uow, caller)}:
        if caller.has_service_token and session_id in {one.id for one in uow.sessions.alive_of(caller.account.id)}:
            caller.require(Act.SHARED_ACCOUNT)
        raise NotFound("You have no such session.")
    ended = uow.sessions.revoke(session_id, user_id=caller.account.id)
    if not ended:
        raise NotFound("You have no such session.")
    record_ended(uow, caller.account.id, caller.account.email, ended)


def end_my_others(uow: UnitOfWork) -> int:
    """End every session of the caller within the limits of this one, except the current one; return how many ended."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    if caller.has_service_token:
        caller.require(Act.SHARED_ACCOUNT)
    limits = caller.shown_within
    # Locked, so that what another session does at this moment is either seen and ended, or refused.
    uow.users.lock(caller.account.id)
    if limits is None:
        return end_all(uow, caller.account.id, caller.account.email, except_session_id=caller.session.id)
    ended = uow.sessions.revoke_within(limits, user_id=caller.account.id, except_session_id=caller.session.id)
    record_ended(uow, caller.account.id, caller.account.email, ended)
    return len(ended)


def end_all(uow: UnitOfWork, user_id: UUID, email: str, *, except_session_id: UUID | None = None) -> int:
    """End the sessions of a user, who need not be the caller; return how many ended.

    Impersonations that the user began end as well; they appear in no list of the user's sessions. So does a change of
    address that one of the sessions has asked for, and every sign-in of the user that is not complete: its second half,
    done later, would begin a session that was to end.
    """
    # A sign-in holds this lock while it completes: its session is found below, or it finds itself ended.
    uow.users.lock(user_id)
    uow.one_time_tokens.drop_email_change(user_id, at=uow.now)
    uow.unfinished_sign_ins.end_all(user_id)
    ended = uow.sessions.revoke_all(user_id, except_session_id=except_session_id)
    uow.sessions.end_impersonations(user_id)
    record_ended(uow, user_id, email, ended)
    return len(ended)


def end_in_organization(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> Sequence[UUID | None]:
    """End a user's sessions in the context of an organization, and the sign-ins to it that are not complete.

    Return the contexts of the sessions, for `record_ended`.
    """
    uow.users.defer_lock(user_id)
    uow.unfinished_sign_ins.end_in_organization(organization_id, user_id=user_id)
    return uow.sessions.revoke_in_organization(organization_id, user_id=user_id)


def end_at_service(uow: UnitOfWork, organization_id: UUID, service_id: UUID, user_id: UUID, email: str) -> int:
    """End a user's sessions at a service of an organization; return how many ended.

    The sign-ins to the organization that are not complete end as well.
    """
    # Locked, so that a sign-in that completes at this moment is either found below, or finds itself ended.
    uow.users.lock(user_id)
    uow.unfinished_sign_ins.end_in_organization(organization_id, user_id=user_id)
    ended = uow.sessions.revoke_of_service(service_id, user_id=user_id)
    record_ended(uow, user_id, email, ended, service_id=str(service_id))
    return len(ended)


def log_out(uow: UnitOfWork) -> None:
    """End the session of this request, even if the caller no longer belongs to the context of the session."""
    caller = uow.caller_to_log_out
    assert caller is not None, "a caller without an access token logs out"
    sign_out(uow, caller.session.id, caller.account.id, caller.account.email)


def sign_out(uow: UnitOfWork, session_id: UUID, user_id: UUID, email: str) -> None:
    """End one session of a user who signs out there, and its children."""
    # Of two concurrent requests one ends the session, and only that one publishes the event.
    ended = uow.sessions.revoke(session_id, user_id=user_id)
    if ended:
        own, *of_children = ended
        person_events.publish(uow, EventType.USER_LOGOUT, user_id, email, organization_id=own)
        record_ended(uow, user_id, email, of_children)


def record_ended_of(uow: UnitOfWork, ended: Iterable[EndedSession], organization_id: UUID, **data: str) -> None:
    """Publish to an organization how many sessions of each user it has ended."""
    happenings = [(one.user_id, one.email, {"sessions": number, **data}) for one, number in Counter(ended).items()]
    if happenings:
        uow.publish_of_users(EventType.SESSION_REVOKED, organization_id, happenings)


def record_ended(uow: UnitOfWork, user_id: UUID, email: str, contexts: Iterable[UUID | None], **data: str) -> None:
    """Publish that sessions were ended: to each organization, the number of those in its context."""
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
