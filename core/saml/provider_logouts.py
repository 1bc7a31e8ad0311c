"""Single logout with the identity providers of connections: their requests and their answers.

A request is signed, so any browser may bring it: it ends at once the sessions of its name and index that began by this
connection, and nothing else. The browser that brings it then tells the service providers of those sessions, as for
every other logout (`logouts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.saml import logouts, message_checks
from core.saml.logout_steps import PARTIAL, Logout
from core.saml.logouts import LIFETIME, TOLD_MAX, TakenLogout
from core.saml.messages import SUCCESS, LogoutResponse, MessageRefused, SamlLogoutRequest, SamlStatus, StatusOf
from core.saml.sessions import SessionState
from core.secrets import Secret, hash_token
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.saml import ServiceProvider

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A request that names more sessions than this ends the newest of them.
NAMED_MAX: Final = 100

_UNKNOWN: Final = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.UNKNOWN_PRINCIPAL)


def take(
    uow: UnitOfWork,
    target: OpenConnection,
    request: SamlLogoutRequest,
    /,
    *,
    own: ServiceProvider,
    relay_state: str | None,
    browser_key: Secret | None,
) -> TakenLogout:
    """End the sessions that the identity provider of a connection names, and keep its request until it is answered.

    Raise `MessageRefused` for a request that is not signed by it, not for us, stale, or that was taken before.
    """
    message_checks.require_from_connection(request, target.connection.issuer or "", own.slo_url, uow.now)
    message_checks.require_current(request, uow.now)
    organization_id, connection_id = target.organization_id, target.connection.id
    named = uow.provider_sessions.named(
        organization_id, connection_id, request.name_id.value, request.session_indexes, limit=NAMED_MAX + 1
    )
    states = uow.saml_sessions.states(named[:NAMED_MAX])
    to_tell: list[UUID] = []
    # In the order of their ids, as everywhere, so that two logouts at once do not wait for each other.
    for user_id in sorted({one.user_id for one in states}):
        to_tell += _end(uow, [one for one in states if one.user_id == user_id], organization_id)
    is_partial = len(named) > NAMED_MAX or len(to_tell) > TOLD_MAX
    return logouts.keep(
        uow,
        Logout(
            id=uow.randomness.new_id(),
            organization_id=organization_id,
            message_id=request.id,
            relay_state=relay_state,
            to_tell=to_tell[:TOLD_MAX],
            status=_UNKNOWN if not states else PARTIAL if is_partial else SUCCESS,
            created_at=uow.now,
            expires_at=uow.now + LIFETIME,
            connection_id=connection_id,
        ),
        browser_key,
    )


def receive(
    uow: UnitOfWork, target: OpenConnection, response: LogoutResponse, /, *, own: ServiceProvider, state: str | None
) -> None:
    """Take the answer of the identity provider of a connection; raise `MessageRefused` when none is awaited from it."""
    message_checks.require_from_connection(response, target.connection.issuer or "", own.slo_url, uow.now)
    logout = uow.saml_logouts.lock_awaiting(hash_token(state or ""), at=uow.now)
    is_awaited = (
        logout is not None
        and not logout.to_tell
        and logout.awaited_id is not None
        and response.in_response_to == logout.awaited_id
        and (logout.organization_id, logout.connection_id) == (target.organization_id, target.connection.id)
    )
    if logout is None or not is_awaited:
        raise MessageRefused("It answers no request of this logout.")
    uow.saml_logouts.save(replace(logout, provider_session_id=None, awaited_id=None))


def _end(uow: UnitOfWork, states: Sequence[SessionState], organization_id: UUID) -> Sequence[UUID]:
    """End these sessions of a user; return the sessions of service providers that began from them."""
    user_id, email = states[0].user_id, states[0].email
    uow.users.defer_lock(user_id)
    own = [one.session_id for one in states]
    # One more than the browser can tell, so that the caller sees that there are more.
    alive = uow.saml_sessions.defer_alive_of(user_id, own, limit=TOLD_MAX + 1)()
    logouts.end(uow, user_id, email, [*own, *alive], organization_id=organization_id)
    return alive
