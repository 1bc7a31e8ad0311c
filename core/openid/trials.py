"""Trying a service: a real sign-in that the console begins, and whose tokens it shows.

The console pushes the authorization request itself, so no other party can make the answer go to its address: that
address is registered nowhere, and no parameter of a request opens it. The state is kept for the browser session that
has begun the try, and is valid once, for some minutes. The verifier of PKCE and the nonce derive from the state with
the installation's pepper, so the address of the answer alone redeems nothing. The session of the service ends with the
exchange.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from core.errors import BadRequest, Conflict, Refusal
from core.lazy_dataclasses import dataclass
from core.openid import clients, id_tokens, requests, scopes, token_grants
from core.openid.refusals import OAuthRefusal
from core.openid.requests import StoredRequest
from core.openid.token_grants import IssuedTokens, PresentedCode
from core.organizations.access import Operation
from core.secrets import Secret, hash_token
from core.services import service_access
from core.services.services import Service
from core.sessions import sessions
from core.sessions.caller_limits import Act

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=15)
SCOPES: Final = (scopes.OPENID, scopes.PROFILE, scopes.EMAIL)
REASON: Final = "service_tried"
_BEGUN_IN: Final = "begun_in"


class TrialOver(Conflict):
    """The try is not known, was begun in another browser session, is answered already, or has expired."""

    default_message = (
        "This try is over. It was answered already, took more than 15 minutes, or was begun in another browser, or"
        " before you signed in again. Begin it again."
    )


class TrialFailed(Conflict):
    """The code was not accepted: it is too old, or not the one of the try."""

    default_message = (
        "The answer of this try could not be exchanged for tokens, and its session has ended. Begin again."
    )


class NotTriable(BadRequest):
    """The service has a security profile, so signing in needs the service's own keys."""

    default_message = (
        "This service has a security profile. It pushes its requests with an assertion that it signs, and binds its"
        " tokens to a key of its own. Only the service has these keys, so the sign-in cannot be tried here."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunTrial:
    """A request that waits under its `request_uri`, which is valid once."""

    service: Service
    request_uri: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedSignIn:
    """What a service would have received; the session has ended, so the tokens open nothing."""

    issued: IssuedTokens
    user_info: dict[str, Any] = field(repr=False)


def begin(uow: UnitOfWork, slug: str, service_slug: str, *, address: str) -> BegunTrial:
    """Push the request of a try, with the answer to this address of the console; raise `NotTriable`."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_TRY)
    authorized.caller.require(Act.IN_PERSON)
    service = authorized.service
    _require_triable(service)
    client = clients.find(uow, service.client_id)
    assert client is not None, "a service was found that is no client"
    state = uow.randomness.token()
    uow.authorization_requests.add(
        hash_token(state.reveal()),
        # Stored like a pushed one, so that no waiting request goes on under its id.
        StoredRequest(
            organization_id=service.organization_id,
            service_id=service.id,
            is_pushed=True,
            parameters={_BEGUN_IN: str(authorized.caller.session.id)},
        ),
        expires_at=uow.now + LIFETIME,
    )
    digest = hashlib.sha256(_derived(uow, "trial_verifier", state).encode()).digest()
    request_uri = requests.receive(
        uow,
        client,
        {
            requests.TRIED_AT: address,
            "redirect_uri": address,
            "response_type": "code",
            "scope": " ".join(SCOPES),
            "state": state.reveal(),
            "nonce": _derived(uow, "trial_nonce", state),
            "code_challenge": _base64(digest),
            "code_challenge_method": "S256",
        },
    )
    return BegunTrial(service=service, request_uri=request_uri)


def complete(
    uow: UnitOfWork, slug: str, service_slug: str, *, code: str, state: str, address: str
) -> TriedSignIn | Refusal:
    """Exchange the code of a try as the service would, and end the session at once.

    Raise `TrialOver`, and `NotTriable` when the service has got a security profile meanwhile. `TrialFailed` is
    returned, not raised, so that the end of the session is committed.
    """
    service = _answered(uow, slug, service_slug, state)
    _require_triable(service)
    client = clients.find(uow, service.client_id)
    assert client is not None, "a service was found that is no client"
    verifier = _derived(uow, "trial_verifier", Secret(state))
    presented = PresentedCode(code=code, redirect_uri=address, code_verifier=verifier)
    issued = token_grants.redeem_code_as(uow, client, presented, None)
    if isinstance(issued, OAuthRefusal):
        return TrialFailed()
    grant = issued.grant
    if grant.user_id != uow.caller.account.id or issued.nonce != _derived(uow, "trial_nonce", Secret(state)):
        raise TrialOver
    ended = uow.sessions.revoke(grant.session_id, user_id=grant.user_id)
    sessions.record_ended(uow, grant.user_id, uow.caller.account.email, ended, reason=REASON)
    user_info = {**grant.own_claims, "sub": str(grant.user_id)} | id_tokens.of_user(grant, issued.names, SCOPES)
    return TriedSignIn(issued=issued, user_info=user_info)


def abandon(uow: UnitOfWork, slug: str, service_slug: str, *, state: str) -> None:
    """Use up the state of a try that was answered by an error; raise `TrialOver`."""
    _answered(uow, slug, service_slug, state)


def _answered(uow: UnitOfWork, slug: str, service_slug: str, state: str) -> Service:
    authorized = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_TRY)
    service = authorized.service
    kept = uow.authorization_requests.use(hash_token(state), service.organization_id, service.id, is_pushed=True)
    if kept is None or kept.parameters.get(_BEGUN_IN) != str(authorized.caller.session.id):
        raise TrialOver
    return service


def _require_triable(service: Service) -> None:
    if service.security_profile is not None:
        raise NotTriable


def _derived(uow: UnitOfWork, purpose: str, state: Secret) -> str:
    return _base64(uow.pepper.mark(purpose, state.reveal().encode("utf-8", "surrogatepass")))


def _base64(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
