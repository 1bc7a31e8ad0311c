"""Refreshing a session: its refresh token is exchanged for the next one, once; and moving it into an organization.

An exchanged token stays usable for a grace period, for two tabs that refresh at once and for responses that got lost:
it yields the newest token. After that its use shows that it was copied, and the session ends. Each token is derived
from the one before it with the installation's pepper, and carries a MAC. So old tokens are distinguished from forged
ones, and their successors are computed, while only the hash of the newest is stored. An attacker cannot end a
session by forging tokens for it.

The refresh tokens of a service with a security profile are not exchanged: they are bound to a key, and stay the same as
long as the session lives (FAPI 2.0 Security Profile, 5.3.2.1).
"""

from __future__ import annotations

import base64
import hmac
import re
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypedDict
from uuid import UUID

from core.errors import OrganizationNotActive, Unauthorized
from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token
from core.sessions import sessions
from core.sessions.caller_limits import AddressNotConfirmed
from core.sessions.callers import Caller, NoLongerForCustomer
from core.sessions.client_grants import ClientGrant, RefreshingClient
from core.sessions.token_additions import NO_ADDITIONS, TokenAdditions, TokenSubject
from core.sessions.tokens import TokenGrant, token_grant

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

GRACE: Final = timedelta(seconds=30)
# More exchanges than this within the grace period do not come from several tabs.
FORGIVEN_EXCHANGES_MAX: Final = 10
REUSED: Final = "refresh_token_reused"

_ID_BYTES: Final = 16
# With 18 the whole is a multiple of three bytes: base64 without padding, and a single encoding of each token.
_MAC_BYTES: Final = 18
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{88}")


class RefreshRefused(Unauthorized):
    """The refresh token is invalid, or no longer valid."""

    default_message = "This refresh token is not valid. Sign in again."


class RefreshedElsewhere(RefreshRefused):
    """The refresh token was issued to a confidential client, or is bound to a key; this endpoint sees neither."""

    default_message = "This refresh token is exchanged at /auth/token, by the client that it was issued to."


class SessionOver(Unauthorized):
    """The session ended during the request."""

    default_message = "This session is over. Sign in again."


@dataclass(frozen=True, slots=True)
class TokenReused:
    """An old token of this session was used after its grace period; the session is to be ended with `end_reused`."""

    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshable:
    """A live session as a refresh reads it; `exchanged_at` holds the times of the last exchanges, the newest first."""

    caller: Caller
    refresh_hash: bytes = field(repr=False)
    exchanged_at: list[datetime]
    expires_at: datetime
    client_grant: ClientGrant | None = None
    additions: TokenAdditions = NO_ADDITIONS


class _Exchanged(TypedDict):
    """What the port takes of an exchange."""

    old_hash: bytes
    new_hash: bytes
    remembered_max: int


@dataclass(frozen=True, slots=True)
class _Token:
    """A refresh token: the session's id, the unguessable part, and the whole as text."""

    session_id: UUID
    random: bytes = field(repr=False)
    text: Secret


def first_token(uow: UnitOfWork, session_id: UUID, *, code: Secret | None = None) -> Secret:
    """Return the first refresh token of a new session, handed out for the authorization code if there is one."""
    return (_new_token(uow, session_id) if code is None else _token_of_code(uow, session_id, code)).text


def refresh(uow: UnitOfWork, refresh_token: str, *, client: RefreshingClient | None = None) -> TokenGrant | TokenReused:
    """Exchange a refresh token for the next one, with claims from the user's current rights, by a conditional write.

    Return `TokenReused` when the token's grace period is over; raise `RefreshRefused` when it is not a valid token, or
    a token of another client than `client`, which has authenticated at the token endpoint.
    """
    token = _parse(uow, refresh_token)
    if token is None:
        raise RefreshRefused
    if client is None and uow.origin.host_name is None:
        newest = _successor_of(uow, token)
        own = uow.sessions.exchange_own(token.session_id, **_exchanged(token, newest))
        if own is not None:
            return _granted(own, own.caller, newest)
    # When two requests exchange a token at once, one loses the write and finds the token exchanged the second time.
    for _ in range(2):
        session = uow.sessions.find_refreshable(token.session_id, is_limited=client is not None)
        if session is None:
            break
        _require_client(session, client)
        _require_host(uow, session)
        if session.caller.place.security_profile is not None:
            _record_use(uow, session.caller)
            return _refreshed_without_exchange(uow, session, token)
        is_newest = _is_newest(session, token)
        newest = _successor_of(uow, token) if is_newest else _newest_after(uow, session, token)
        if newest is None:
            return TokenReused(session.caller)
        caller = _without_lost_organization(uow, session.caller)
        _check_context(caller)
        if not is_newest or uow.sessions.exchange(token.session_id, **_exchanged(token, newest)):
            _record_use(uow, caller)
            return _granted(session, caller, newest)
    raise RefreshRefused


def _record_use(uow: UnitOfWork, caller: Caller) -> None:
    """Record that a user goes on using a service for a customer."""
    if caller.place.customer_id is not None:
        uow.customer_visits.record_use(caller.place.customer_id, caller.account.id, at=uow.now)


def is_bound_as_required(session: Refreshable) -> bool:
    """Return whether the tokens of a session are bound to a key, or need not be."""
    if session.caller.place.security_profile is None:
        return True
    return session.client_grant is not None and session.client_grant.key_thumbprint is not None


def take_over(
    uow: UnitOfWork, session: Refreshable, granted: ClientGrant | None, *, code: Secret | None = None
) -> TokenGrant:
    """Hand a session over to the client for which it began, with what is granted to it.

    Its tokens were not handed out yet. So its refresh token is the one of its authorization code, or another one, which
    need not follow from the stored one.
    """
    caller, session_id = session.caller, session.caller.session.id
    _check_context(caller)
    newest = _token_of_code(uow, session_id, code) if code is not None else None
    if newest is None or not _is_newest(session, newest):
        newest = _new_token(uow, session_id)
        uow.sessions.hand_over(session_id, new_hash=hash_token(newest.text.reveal()))
    if granted is not None:
        # What the user may not have was never granted: getting it later takes another request.
        granted = granted.of_scopes(session.additions.still_allowed(granted.scopes, caller))
        uow.client_grants.add(session_id, granted)
    return _granted(replace(session, client_grant=granted), caller, newest)


def inspect(uow: UnitOfWork, refresh_token: str) -> Refreshable | None:
    """Return the session of a refresh token, without using the token up; None when it is not the newest one."""
    token = _parse(uow, refresh_token)
    session = uow.sessions.find_refreshable(token.session_id) if token is not None else None
    if token is None or session is None or not (_is_newest(session, token) and _is_of_host(uow, session)):
        return None
    return session


def session_of(uow: UnitOfWork, refresh_token: str) -> UUID | None:
    """Return the id of the session that a refresh token, also an old one, was issued for; None for any other text."""
    token = _parse(uow, refresh_token)
    return token.session_id if token is not None else None


def move(uow: UnitOfWork, session_id: UUID, organization_id: UUID) -> TokenGrant:
    """Make an organization the context of a session, and return the session's next tokens.

    The previous refresh token yields the new one during the grace period, as after every exchange.
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
    return _granted(replace(session, client_grant=None), session.caller, newest)


def end_reused(uow: UnitOfWork, reused: TokenReused) -> None:
    """End a session whose old token was reused, and record that; of several concurrent requests only one does."""
    caller = reused.caller
    ended = uow.sessions.revoke(caller.session.id, user_id=caller.account.id)
    if ended:
        sessions.record_ended(uow, caller.account.id, caller.account.email, ended, reason=REUSED)
        uow.mfa_events.add(caller.account.id, REUSED, is_success=False, details={"session_id": str(caller.session.id)})


def _refreshed_without_exchange(uow: UnitOfWork, session: Refreshable, token: _Token) -> TokenGrant:
    """Return new claims with the same refresh token, and note that the session was used; raise `RefreshRefused`.

    A token that was exchanged before the profile was turned on is refused, and the session goes on.
    """
    caller = session.caller
    _check_context(caller)
    refresh_hash = hash_token(token.text.reveal())
    is_noted = uow.sessions.exchange(caller.session.id, old_hash=refresh_hash, new_hash=refresh_hash, remembered_max=0)
    if not is_noted:
        raise RefreshRefused
    return _granted(session, caller, token)


def _granted(session: Refreshable, caller: Caller, newest: _Token) -> TokenGrant:
    return token_grant(
        TokenSubject(caller=caller, additions=session.additions),
        newest.text,
        session_expires_at=session.expires_at,
        client_grant=session.client_grant,
    )


def _require_client(session: Refreshable, client: RefreshingClient | None) -> None:
    granted = session.client_grant
    if client is None:
        has_profile = session.caller.place.security_profile is not None
        if has_profile or (granted is not None and granted.needs_client):
            raise RefreshedElsewhere
        return
    if session.caller.place.client_id != client.client_id:
        raise RefreshRefused
    if granted is not None and granted.key_thumbprint not in {None, client.key_thumbprint}:
        raise RefreshRefused("The DPoP proof is not signed with the key to which this refresh token is bound.")
    if not is_bound_as_required(session):
        # It was issued before the profile was turned on.
        raise RefreshRefused(
            "This refresh token is bound to no key, as this service requires it by now. Sign in again."
        )


def _require_host(uow: UnitOfWork, session: Refreshable) -> None:
    if not _is_of_host(uow, session):
        raise RefreshRefused("This session is refreshed at the address where its sign-in began.")


def _is_of_host(uow: UnitOfWork, session: Refreshable) -> bool:
    """Return whether a session began under the host of this request."""
    granted = session.client_grant
    return (granted.host if granted is not None else None) == uow.origin.host_name


def _new_token(uow: UnitOfWork, session_id: UUID) -> _Token:
    return _make(uow, session_id, hash_token(uow.randomness.token().reveal()))


def _token_of_code(uow: UnitOfWork, session_id: UUID, code: Secret) -> _Token:
    # The code yields it, so that a session need not be stored a second time when its code is exchanged.
    return _make(uow, session_id, uow.pepper.mark("refresh token of a code", session_id.bytes, code.reveal().encode()))


def _parse(uow: UnitOfWork, text: str) -> _Token | None:
    """Return the token; None when this installation did not issue it."""
    if not _SHAPE.fullmatch(text):
        return None
    raw = base64.urlsafe_b64decode(text)
    token = _make(uow, UUID(bytes=raw[:_ID_BYTES]), raw[_ID_BYTES:-_MAC_BYTES])
    return token if hmac.compare_digest(text, token.text.reveal()) else None


def _make(uow: UnitOfWork, session_id: UUID, random: bytes) -> _Token:
    mac = uow.pepper.mark("refresh token", session_id.bytes, random)[:_MAC_BYTES]
    return _Token(session_id, random, Secret(base64.urlsafe_b64encode(session_id.bytes + random + mac).decode()))


def _successor_of(uow: UnitOfWork, token: _Token) -> _Token:
    return _successor(uow, token.session_id, hash_token(token.text.reveal()))


def _successor(uow: UnitOfWork, session_id: UUID, token_hash: bytes) -> _Token:
    # From the hash, because `move` does not have the token itself.
    return _make(uow, session_id, uow.pepper.mark("refresh successor", session_id.bytes, token_hash))


def _exchanged(old: _Token, new: _Token) -> _Exchanged:
    return {
        "old_hash": hash_token(old.text.reveal()),
        "new_hash": hash_token(new.text.reveal()),
        "remembered_max": FORGIVEN_EXCHANGES_MAX,
    }


def _is_newest(session: Refreshable, token: _Token) -> bool:
    return hmac.compare_digest(hash_token(token.text.reveal()), session.refresh_hash)


def _newest_after(uow: UnitOfWork, session: Refreshable, token: _Token) -> _Token | None:
    """Return the newest token, derived from one exchanged within the grace period; None for an older token."""
    for exchanged_at in session.exchanged_at:
        if uow.now > exchanged_at + GRACE:
            return None
        token = _successor_of(uow, token)
        if _is_newest(session, token):
            return token
    return None


def _without_lost_organization(uow: UnitOfWork, caller: Caller) -> Caller:
    """Return the caller without the organization of the session if they are no longer a member of it.

    The session goes on without that context. A session of a service has no meaning without it.
    """
    if caller.belongs_to_context or caller.has_service_token:
        return caller
    uow.sessions.leave_organization(caller.session.id)
    place = replace(caller.place, organization_id=None, organization_slug=None, organization_status=None)
    return replace(caller, place=place)


def _check_context(caller: Caller) -> None:
    """Refuse a session whose organization is not active, or no longer admits the user at all or in this session."""
    if caller.place.organization_id is None:
        return
    if not caller.place.is_organization_active:
        raise OrganizationNotActive
    if not caller.limits.opens_role(caller.place.role_in_context):
        raise RefreshRefused(AddressNotConfirmed.default_message)
    if not caller.belongs_to_context and caller.place.customer_id is not None:
        raise RefreshRefused(NoLongerForCustomer.default_message)
    if not caller.belongs_to_context:
        raise RefreshRefused("You no longer belong to the organization of this session. Sign in again.")
    if caller.lacks_second_factor:
        # The organization began to require it after the session began; the sign-in explains what to do.
        raise RefreshRefused("This organization now requires multi-factor authentication. Sign in again.")
