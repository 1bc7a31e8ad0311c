"""How a session goes on: its refresh token is exchanged for the next one, once; or it moves into an organization.

A token that was exchanged a moment ago is good for a moment longer, for two tabs that refresh at once and for answers
that got lost: it leads to the token that is good now. After that it betrays that somebody copied it, and the session
ends. Every token follows from the one before it and a key of the house, and carries the house's mark. So an old one of
ours is told from an invention, and its successors are found, without keeping more than the hash of the newest; and
nobody can end a session by inventing tokens for it.
"""

from __future__ import annotations

import base64
import hmac
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import OrganizationNotActive, Unauthorized
from core.secrets import Secret, hash_token
from core.sessions import sessions
from core.sessions.token_claims import TokenGrant, token_grant

if TYPE_CHECKING:
    from datetime import datetime

    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

GRACE: Final = timedelta(seconds=30)
# More exchanges than this in half a minute are no tabs.
FORGIVEN_EXCHANGES_MAX: Final = 10
REUSED: Final = "refresh_token_reused"

_ID_BYTES: Final = 16
# With 18 the whole is a multiple of three bytes: base64 without padding, and one spelling only for each token.
_MARK_BYTES: Final = 18
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{88}")


class RefreshRefused(Unauthorized):
    """The refresh token is not good, or no longer."""

    default_message = "This refresh token is not valid. Sign in again."


class SessionOver(Unauthorized):
    """The session ended while something was done with it."""

    default_message = "This session is over. Sign in again."


@dataclass(frozen=True, slots=True)
class TokenReused:
    """Somebody used an old token of this session again; the session is to be ended (`end_reused`)."""

    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshable:
    """A live session as a refresh finds it; `exchanged_at` is of the last tokens, the newest first."""

    caller: Caller
    refresh_hash: bytes = field(repr=False)
    exchanged_at: list[datetime]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _Token:
    """What a refresh token says: whose it is and what nobody can guess; and its text."""

    session_id: UUID
    random: bytes = field(repr=False)
    text: Secret


def first_token(uow: UnitOfWork, session_id: UUID) -> Secret:
    """Make the token that a new session begins with."""
    return _made(uow, session_id, hash_token(uow.randomness.token().reveal())).text


def refresh(uow: UnitOfWork, refresh_token: str) -> TokenGrant | TokenReused:
    """Exchange a refresh token for the next one and a fresh look at the person's rights, in one conditional write."""
    token = _read(uow, refresh_token)
    # Of two who exchange a token at once one finds the second time that it was exchanged a moment ago.
    for _ in range(2):
        session = uow.sessions.find_refreshable(token.session_id) if token is not None else None
        if token is None or session is None:
            break
        is_newest = _is_newest(session, token)
        newest = _successor_of(uow, token) if is_newest else _newest_after(uow, session, token)
        if newest is None:
            return TokenReused(session.caller)
        _check_context(session.caller)
        if not is_newest or _exchange(uow, token, newest):
            return token_grant(session.caller, newest.text, session_expires_at=session.expires_at)
    raise RefreshRefused


def move(uow: UnitOfWork, session_id: UUID, organization_id: UUID) -> TokenGrant:
    """Make an organization the context of a session, and give the session its next tokens.

    From the refresh token of before there is a way to the new one for a moment, as after every exchange.
    """
    refresh_hash = uow.sessions.lock_refresh_hash(session_id)
    if refresh_hash is None:
        raise SessionOver
    newest = _successor(uow, session_id, refresh_hash)
    uow.sessions.move(
        session_id,
        organization_id=organization_id,
        new_hash=hash_token(newest.text.reveal()),
        remembered_max=FORGIVEN_EXCHANGES_MAX,
    )
    session = uow.sessions.find_refreshable(session_id)
    if session is None:
        raise SessionOver
    return token_grant(session.caller, newest.text, session_expires_at=session.expires_at)


def end_reused(uow: UnitOfWork, betrayed: TokenReused) -> None:
    """End a session whose old token was used again, and remember that; of several who find out at once one does."""
    caller = betrayed.caller
    ended = uow.sessions.revoke(caller.session_id, user_id=caller.user_id)
    if ended:
        sessions.record_ended(uow, caller.user_id, caller.email, ended, reason=REUSED)
        uow.mfa_events.add(caller.user_id, REUSED, is_success=False, details={"session_id": str(caller.session_id)})


def _read(uow: UnitOfWork, text: str) -> _Token | None:
    """Read a token of ours; an invented one is None."""
    if not _SHAPE.fullmatch(text):
        return None
    raw = base64.urlsafe_b64decode(text)
    token = _made(uow, UUID(bytes=raw[:_ID_BYTES]), raw[_ID_BYTES:-_MARK_BYTES])
    return token if hmac.compare_digest(text, token.text.reveal()) else None


def _made(uow: UnitOfWork, session_id: UUID, random: bytes) -> _Token:
    mark = uow.pepper.mark("refresh token", session_id.bytes, random)[:_MARK_BYTES]
    return _Token(session_id, random, Secret(base64.urlsafe_b64encode(session_id.bytes + random + mark).decode()))


def _successor_of(uow: UnitOfWork, token: _Token) -> _Token:
    return _successor(uow, token.session_id, hash_token(token.text.reveal()))


def _successor(uow: UnitOfWork, session_id: UUID, token_hash: bytes) -> _Token:
    # From the hash, because nobody shows the token of a session that is moved.
    return _made(uow, session_id, uow.pepper.mark("refresh successor", session_id.bytes, token_hash))


def _exchange(uow: UnitOfWork, old: _Token, new: _Token) -> bool:
    return uow.sessions.exchange(
        old.session_id,
        old_hash=hash_token(old.text.reveal()),
        new_hash=hash_token(new.text.reveal()),
        remembered_max=FORGIVEN_EXCHANGES_MAX,
    )


def _is_newest(session: Refreshable, token: _Token) -> bool:
    return hmac.compare_digest(hash_token(token.text.reveal()), session.refresh_hash)


def _newest_after(uow: UnitOfWork, session: Refreshable, token: _Token) -> _Token | None:
    """Walk from a token that was exchanged a moment ago to the newest one; from an older token there is no way."""
    for exchanged_at in session.exchanged_at:
        if uow.now > exchanged_at + GRACE:
            return None
        token = _successor_of(uow, token)
        if _is_newest(session, token):
            return token
    return None


def _check_context(caller: Caller) -> None:
    """Refuse a session whose organization or service no longer takes this person (decisions 1.7)."""
    if caller.organization_id is None:
        return
    if not caller.is_organization_active:
        raise OrganizationNotActive
    if not caller.belongs_to_context:
        raise RefreshRefused("You no longer belong to the organization of this session. Sign in again.")
    if caller.lacks_second_factor:
        # Asked for since the session began; the sign-in says what to do about it.
        raise RefreshRefused("This organization asks for multi-factor authentication now. Sign in again.")
