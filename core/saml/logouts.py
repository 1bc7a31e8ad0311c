"""Single logout: the end of a user's session, of which a browser tells all service providers, one after the other.

It begins with the request of a service provider, or with a user who signs out here. The sessions end at once, before
the first service provider is told: what comes after that is courtesy. A logout waits under its state, in the browser
that brought it, until its last answer; the request of a service provider is answered at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest
from core.events import person_events
from core.events.events import EventType
from core.organizations.organizations import OrganizationStatus
from core.saml import judgement, providers
from core.saml.messages import (
    SUCCESS,
    MessageRefused,
    OutgoingLogoutRequest,
    OutgoingLogoutResponse,
    SamlStatus,
    StatusOf,
)
from core.saml.sign_in import message_id, signing_key
from core.secrets import Secret, hash_token
from core.sessions import sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.key_certificates import SamlSigningKey
    from core.saml.messages import LogoutResponse, SamlBinding, SamlLogoutRequest
    from core.saml.providers import SamlProvider
    from core.saml.sessions import SessionState
    from core.sessions.browser_sessions import BrowserSession
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=15)
# More sessions than that are ended as well, but their service providers are not told.
TOLD_MAX: Final = 20
NAMED_MAX: Final = 20

_PARTIAL: Final = StatusOf(first=SamlStatus.SUCCESS, second=SamlStatus.PARTIAL_LOGOUT)
_UNKNOWN: Final = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.UNKNOWN_PRINCIPAL)
_DENIED: Final = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.REQUEST_DENIED)


class LogoutStateUnknown(BadRequest):
    """The state is unknown or expired, or belongs to another browser."""

    default_message = (
        "This logout is over. It has expired or was completed already, or it began in another browser. To make sure,"
        " sign out of the application and of Gatehouse again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Logout:
    """A logout under way. Without `message_id` the user has signed out here, and no service provider waits.

    `named` are the sessions that the request names; `to_tell` are ended sessions whose service providers are still to
    be told, and `awaited_id` is the request that was sent to the first of them.
    """

    id: UUID
    organization_id: UUID | None
    service_id: UUID | None
    message_id: str | None
    relay_state: str | None
    is_signed: bool
    named: Sequence[UUID]
    has_begun: bool
    to_tell: Sequence[UUID]
    status: StatusOf
    awaited_id: str | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenLogout:
    """The state of a new logout, and the key of the browser that brought it."""

    state: Secret
    browser_key: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutMessage:
    """A message to sign and to send by the browser; `relay_state` comes back with its answer."""

    content: OutgoingLogoutRequest | OutgoingLogoutResponse
    key: SamlSigningKey
    binding: SamlBinding
    relay_state: str | None


@dataclass(frozen=True, slots=True)
class LogoutCompleted:
    """Everything has ended, and no service provider waits for an answer."""


Step = LogoutMessage | LogoutCompleted


def take(
    uow: UnitOfWork,
    provider: SamlProvider,
    request: SamlLogoutRequest,
    /,
    *,
    relay_state: str | None,
    browser_key: Secret | None,
    base_url: str,
) -> TakenLogout:
    """Keep a service provider's request for a logout; raise `MessageRefused` when it was taken before."""
    judgement.require_acceptable(request, provider, provider.slo_url(base_url), uow.now)
    judgement.require_current(request, uow.now)
    named = uow.saml_sessions.named(
        provider,
        request.name_id.value,
        request.session_indexes,
        domain_id=uow.origin.domain_id,
        limit=NAMED_MAX,
    )
    return _keep(
        uow,
        Logout(
            id=uow.randomness.new_id(),
            organization_id=provider.organization_id,
            service_id=provider.service_id,
            message_id=request.id,
            relay_state=relay_state,
            is_signed=request.is_signed,
            named=named,
            has_begun=False,
            to_tell=(),
            status=SUCCESS,
            awaited_id=None,
            created_at=uow.now,
            expires_at=uow.now + LIFETIME,
        ),
        browser_key,
    )


def sign_out(uow: UnitOfWork, browser: BrowserSession, browser_key: Secret | None) -> TakenLogout | None:
    """End the session of a browser whose user signs out here; None when no service provider is to be told."""
    told = uow.saml_sessions.alive_of(browser.user_id, [browser.session_id], limit=TOLD_MAX)
    sessions.sign_out(uow, browser.session_id, browser.user_id, browser.email)
    if not told:
        return None
    return _keep(
        uow,
        Logout(
            id=uow.randomness.new_id(),
            organization_id=None,
            service_id=None,
            message_id=None,
            relay_state=None,
            is_signed=True,
            named=(),
            has_begun=True,
            to_tell=told,
            status=SUCCESS,
            awaited_id=None,
            created_at=uow.now,
            expires_at=uow.now + LIFETIME,
        ),
        browser_key,
    )


def go_on(
    uow: UnitOfWork, state: str, browser_key: Secret | None, browser_session_id: UUID | None, /, *, base_url: str
) -> Step:
    """End the sessions when that has not been done, and return the next message; raise `LogoutStateUnknown`."""
    logout = None
    if browser_key is not None:
        logout = uow.saml_logouts.lock(hash_token(state), hash_token(browser_key.reveal()), at=uow.now)
    if logout is None:
        raise LogoutStateUnknown
    if not logout.has_begun:
        logout = _begin(uow, logout, browser_session_id)
    return _next(uow, logout, state, base_url)


def receive(
    uow: UnitOfWork,
    provider: SamlProvider,
    response: LogoutResponse,
    /,
    *,
    state: str | None,
    base_url: str,
) -> None:
    """Take a service provider's answer; raise `MessageRefused` when none is awaited from it."""
    judgement.require_acceptable(response, provider, provider.slo_url(base_url), uow.now)
    logout = uow.saml_logouts.lock_awaiting(hash_token(state or ""), at=uow.now)
    told = uow.saml_sessions.find(logout.to_tell[0]) if logout is not None and logout.to_tell else None
    is_awaited = (
        logout is not None
        and told is not None
        and logout.awaited_id is not None
        and response.in_response_to == logout.awaited_id
        and (told.organization_id, told.service_id) == (provider.organization_id, provider.service_id)
    )
    if logout is None or not is_awaited:
        raise MessageRefused("It answers no request of this logout.")
    uow.saml_logouts.save(_told(logout, is_success=response.is_success))


def _keep(uow: UnitOfWork, logout: Logout, browser_key: Secret | None) -> TakenLogout:
    taken = TakenLogout(state=uow.randomness.token(), browser_key=browser_key or uow.randomness.token())
    is_new = uow.saml_logouts.add(
        logout,
        state_hash=hash_token(taken.state.reveal()),
        browser_hash=hash_token(taken.browser_key.reveal()),
    )
    if not is_new:
        raise MessageRefused("It was used before.")
    return taken


def _begin(uow: UnitOfWork, logout: Logout, browser_session_id: UUID | None) -> Logout:
    """End what the request names: without a signature only a session of the browser that brought it."""
    assert logout.organization_id is not None, "a logout that has not begun has no service provider"
    states = uow.saml_sessions.states(logout.named)
    if not states:
        return replace(logout, has_begun=True, status=_UNKNOWN)
    if not logout.is_signed:
        is_live = any(one.is_live for one in states)
        states = [one for one in states if one.parent_id is not None and one.parent_id == browser_session_id]
        if not states:
            return replace(logout, has_begun=True, status=_DENIED if is_live else SUCCESS)
    to_tell: list[UUID] = []
    # In the order of their ids, as everywhere, so that two logouts at once do not wait for each other.
    for user_id in sorted({one.user_id for one in states}):
        to_tell += _end_named(uow, [one for one in states if one.user_id == user_id], logout)
    status = SUCCESS if len(to_tell) <= TOLD_MAX else _PARTIAL
    return replace(logout, has_begun=True, to_tell=to_tell[:TOLD_MAX], status=status)


def _end_named(uow: UnitOfWork, states: Sequence[SessionState], logout: Logout) -> Sequence[UUID]:
    """End the sessions of a user from which these began, and these; return those of other service providers."""
    user_id, email = states[0].user_id, states[0].email
    uow.users.lock(user_id)
    parents = [one.parent_id for one in states if one.parent_id is not None]
    # One more than can be told, so that the caller sees that there are more.
    alive = uow.saml_sessions.alive_of(user_id, parents, limit=TOLD_MAX + NAMED_MAX + 1)
    own = set(uow.saml_sessions.alive_of(user_id, parents, service_id=logout.service_id, limit=TOLD_MAX + NAMED_MAX))
    _end(
        uow,
        user_id,
        email,
        [*parents, *alive, *(one.session_id for one in states)],
        organization_id=logout.organization_id,
    )
    return [one for one in alive if one not in own]


def _end(
    uow: UnitOfWork, user_id: UUID, email: str, session_ids: Sequence[UUID], *, organization_id: UUID | None
) -> None:
    # All of them, because a child outlives a parent that has expired.
    ended = [
        context
        for session_id in dict.fromkeys(session_ids)
        for context in uow.sessions.revoke(session_id, user_id=user_id)
    ]
    if ended:
        person_events.publish(uow, EventType.USER_LOGOUT, user_id, email, organization_id=organization_id)


def _next(uow: UnitOfWork, logout: Logout, state: str, base_url: str) -> Step:
    """Return the request to the next service provider that can be told, or else the end."""
    while logout.to_tell:
        session = uow.saml_sessions.find(logout.to_tell[0])
        provider = (
            uow.saml_providers.by_id(session.organization_id, session.service_id) if session is not None else None
        )
        if session is None or provider is None or not _can_be_told(provider):
            logout = _told(logout, is_success=False)
            continue
        logout = replace(logout, awaited_id=message_id(uow))
        uow.saml_logouts.save(logout)
        assert logout.awaited_id is not None, "the request to a service provider has no id"
        assert provider.configuration.slo_url is not None, "a service provider without a logout address is told"
        return LogoutMessage(
            content=OutgoingLogoutRequest(
                id=logout.awaited_id,
                issuer=provider.entity_id(base_url),
                destination=provider.configuration.slo_url,
                issued_at=uow.now,
                name_id=session.name_id,
                audience=session.audience,
                session_index=session.index,
            ),
            key=signing_key(uow, provider),
            binding=provider.configuration.slo_binding.binding,
            relay_state=state,
        )
    uow.saml_logouts.remove(logout)
    return _final(uow, logout, base_url)


def _final(uow: UnitOfWork, logout: Logout, base_url: str) -> Step:
    """Return the answer to the service provider that has asked, if it can be answered."""
    if logout.organization_id is None or logout.service_id is None or logout.message_id is None:
        return LogoutCompleted()
    provider = uow.saml_providers.by_id(logout.organization_id, logout.service_id)
    if provider is None or not _can_be_told(provider):
        return LogoutCompleted()
    assert provider.configuration.slo_url is not None, "a service provider without a logout address is answered"
    return LogoutMessage(
        content=OutgoingLogoutResponse(
            id=message_id(uow),
            issuer=provider.entity_id(base_url),
            destination=provider.configuration.slo_url,
            issued_at=uow.now,
            in_response_to=logout.message_id,
            status=logout.status,
        ),
        key=signing_key(uow, provider),
        binding=provider.configuration.slo_binding.binding,
        relay_state=logout.relay_state,
    )


def _can_be_told(provider: SamlProvider) -> bool:
    is_active = provider.organization_status is OrganizationStatus.ACTIVE
    return is_active and providers.is_usable(provider) and provider.configuration.slo_url is not None


def _told(logout: Logout, *, is_success: bool) -> Logout:
    """Return the logout after the first of the service providers was told, or could not be."""
    status = logout.status if is_success or logout.status.first is not SamlStatus.SUCCESS else _PARTIAL
    return replace(logout, to_tell=logout.to_tell[1:], awaited_id=None, status=status)
