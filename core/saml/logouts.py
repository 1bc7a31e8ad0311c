"""Single logout: the end of a user's session; the browser then tells all service providers, one after the other.

It begins with the request of a service provider or of a connection's identity provider (`provider_logouts.py`), or with
a user who signs out here. The sessions end at once, before the first service provider is told. A logout waits under its
state, in the browser that brought it, until its last answer. After the service providers comes the identity provider by
which the user had signed in, and at the end the party that has asked for the logout gets its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.saml import logout_steps, message_checks
from core.saml.identity_providers import SamlProvider
from core.saml.logout_steps import PARTIAL, Logout, Step
from core.saml.messages import (
    SUCCESS,
    LogoutResponse,
    MessageRefused,
    SamlLogoutRequest,
    SamlStatus,
    StatusOf,
)
from core.saml.sessions import SessionState
from core.secrets import Secret, hash_token
from core.sessions import sessions
from core.sessions.browser_sessions import BrowserSession

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=15)
# More sessions than that are ended as well, but their service providers are not told.
TOLD_MAX: Final = 20
NAMED_MAX: Final = 20

_UNKNOWN: Final = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.UNKNOWN_PRINCIPAL)
_DENIED: Final = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.REQUEST_DENIED)


class LogoutStateUnknown(BadRequest):
    """The state is unknown or expired, or belongs to another browser."""

    default_message = (
        "This logout is over. It has expired or was completed already, or it began in another browser. To make sure,"
        " sign out of the application and here again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenLogout:
    """The state of a new logout, and the key of the browser that brought it."""

    state: Secret
    browser_key: Secret


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
    message_checks.require_acceptable(request, provider, provider.slo_url(base_url), uow.now)
    message_checks.require_current(request, uow.now)
    named = uow.saml_sessions.named(
        provider,
        request.name_id.value,
        request.session_indexes,
        domain_id=uow.origin.domain_id,
        limit=NAMED_MAX,
    )
    return keep(
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
            created_at=uow.now,
            expires_at=uow.now + LIFETIME,
        ),
        browser_key,
    )


def sign_out(uow: UnitOfWork, browser: BrowserSession, browser_key: Secret | None) -> TakenLogout | None:
    """End the session of a browser whose user signs out here; None when no other party has to be told."""
    told = uow.saml_sessions.defer_alive_of(browser.user_id, [browser.session_id], limit=TOLD_MAX)()
    is_known = _is_known_to_provider(uow, browser)
    sessions.sign_out(uow, browser.session_id, browser.user_id, browser.email)
    if not told and not is_known:
        return None
    return keep(
        uow,
        Logout(
            id=uow.randomness.new_id(),
            organization_id=browser.confined_to if is_known else None,
            to_tell=told,
            created_at=uow.now,
            expires_at=uow.now + LIFETIME,
            connection_id=browser.connection_id if is_known else None,
            provider_session_id=browser.session_id if is_known else None,
        ),
        browser_key,
    )


def go_on(
    uow: UnitOfWork, state: str, browser_key: Secret | None, browser_session_id: UUID | None, /, *, base_url: str
) -> Step:
    """End the sessions unless they have ended, and return the next message; raise `LogoutStateUnknown`."""
    logout = None
    if browser_key is not None:
        logout = uow.saml_logouts.lock(hash_token(state), hash_token(browser_key.reveal()), at=uow.now)
    if logout is None:
        raise LogoutStateUnknown
    if not logout.has_begun:
        logout = _begin(uow, logout, browser_session_id)
    return logout_steps.next_step(uow, logout, state, base_url=base_url)


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
    message_checks.require_acceptable(response, provider, provider.slo_url(base_url), uow.now)
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
    uow.saml_logouts.save(logout_steps.told(logout, is_success=response.is_success))


def keep(uow: UnitOfWork, logout: Logout, browser_key: Secret | None) -> TakenLogout:
    """Keep a new logout; raise `MessageRefused` when the message that asks for it was taken before."""
    taken = TakenLogout(state=uow.randomness.token(), browser_key=browser_key or uow.randomness.token())
    is_new = uow.saml_logouts.add(
        logout,
        state_hash=hash_token(taken.state.reveal()),
        browser_hash=hash_token(taken.browser_key.reveal()),
    )
    if not is_new:
        raise MessageRefused("It was used before.")
    return taken


def _is_known_to_provider(uow: UnitOfWork, browser: BrowserSession) -> bool:
    """Return whether the session began by a connection whose provider has to be told of its end.

    That is a SAML connection whose identity provider names the session, or an OpenID connection that is set so.
    """
    if browser.confined_to is None or browser.connection_id is None:
        return False
    connection = uow.upstream_connections.find(browser.confined_to, browser.connection_id)
    if connection is None or not (connection.is_saml or connection.signs_out_at_provider):
        return False
    return uow.provider_sessions.find(browser.confined_to, browser.connection_id, browser.session_id) is not None


def _begin(uow: UnitOfWork, logout: Logout, browser_session_id: UUID | None) -> Logout:
    """End the sessions that the request names; without a signature only a session of the browser that brought it."""
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
    status = SUCCESS if len(to_tell) <= TOLD_MAX else PARTIAL
    return replace(logout, has_begun=True, to_tell=to_tell[:TOLD_MAX], status=status)


def _end_named(uow: UnitOfWork, states: Sequence[SessionState], logout: Logout) -> Sequence[UUID]:
    """End these sessions of a user and their parents; return the ended sessions of other service providers."""
    user_id, email = states[0].user_id, states[0].email
    uow.users.defer_lock(user_id)
    parents = [one.parent_id for one in states if one.parent_id is not None]
    read_own = uow.saml_sessions.defer_alive_of(
        user_id, parents, service_id=logout.service_id, limit=TOLD_MAX + NAMED_MAX
    )
    # One more than the browser can tell, so that the caller sees that there are more.
    alive = uow.saml_sessions.defer_alive_of(user_id, parents, limit=TOLD_MAX + NAMED_MAX + 1)()
    own = set(read_own())
    end(
        uow,
        user_id,
        email,
        [*parents, *alive, *(one.session_id for one in states)],
        organization_id=logout.organization_id,
    )
    return [one for one in alive if one not in own]


def end(
    uow: UnitOfWork, user_id: UUID, email: str, session_ids: Sequence[UUID], *, organization_id: UUID | None
) -> None:
    """End these sessions of a locked user, and publish that they have signed out."""
    # Revoked one by one, because a child outlives a parent that has expired.
    ended = uow.sessions.revoke_each(session_ids, user_id=user_id)
    if ended:
        person_events.publish(uow, EventType.USER_LOGOUT, user_id, email, organization_id=organization_id)
