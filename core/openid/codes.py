"""Authorization codes: a browser carries one to the service, whose backend exchanges it for tokens, once.

The session of the service begins when the code is issued, and its tokens are handed out for the code. A code that is
used again, or with a wrong parameter, was seen by another party: the session ends with everything that came of it (RFC
6749, 4.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid import clients, dpop, pkce, requests, security_profile
from core.openid.clients import Client, PresentedClient
from core.openid.dpop import DpopProof
from core.openid.grants import IssuedTokens, issued, take_over
from core.openid.refusals import GrantInvalid, OAuthRefusal, TargetInvalid
from core.openid.requests import AuthorizationRequest
from core.secrets import Secret, hash_token
from core.services.problems import ProblemKind
from core.sessions import sessions
from core.sessions.client_grants import ClientGrant

if TYPE_CHECKING:
    from core.deferred import Deferred
    from core.sessions.refresh import Refreshable
    from ports.unit_of_work import UnitOfWork

CODE_LIFETIME: Final = timedelta(seconds=60)
CODE_REUSED: Final = "authorization_code_reused"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode:
    """What a code stands for.

    `host` is the custom host under which it was issued and is redeemed, None for the base URL. For `requested_claims`
    see `requested_claims.py`.
    """

    organization_id: UUID
    service_id: UUID
    session_id: UUID
    redirect_uri: str
    scopes: Sequence[str]
    audience: str | None
    nonce: str | None
    code_challenge: str | None
    key_thumbprint: str | None
    expires_at: datetime
    host: str | None = None
    requested_claims: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedCode:
    """The session of a code that was used, and its user."""

    session_id: UUID
    user_id: UUID
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedCode:
    """A code as a token request presents it."""

    code: str = field(repr=False)
    redirect_uri: str | None
    code_verifier: str | None = field(repr=False)
    resource: str | None = None


def issue_code(uow: UnitOfWork, client: Client, request: AuthorizationRequest, session_id: UUID, code: Secret) -> None:
    """Store a code with which a session of this service has begun."""
    uow.authorization_codes.add(
        hash_token(code.reveal()),
        AuthorizationCode(
            organization_id=client.service.organization_id,
            service_id=client.service.id,
            session_id=session_id,
            redirect_uri=request.redirect_uri,
            scopes=request.scopes,
            audience=request.audience,
            nonce=request.nonce,
            code_challenge=request.code_challenge,
            key_thumbprint=request.key_thumbprint,
            expires_at=uow.now + CODE_LIFETIME,
            host=uow.origin.host_name,
            requested_claims=request.claims.kept(),
        ),
    )


def redeem_code(
    uow: UnitOfWork, presented_client: PresentedClient, presented: PresentedCode, proof: DpopProof | None
) -> IssuedTokens | OAuthRefusal:
    """Exchange a code for the tokens of its session.

    A refusal that ends the session is returned, not raised, so that the end is committed.
    """
    # In the round trip that reads the client; a refusal of the client rolls the use back.
    deferred = _defer_use(uow, presented, presented_client.client_id)
    client = clients.authenticate(uow, presented_client)
    return _redeem(uow, client, presented, proof, *deferred)


def redeem_code_as(
    uow: UnitOfWork, client: Client, presented: PresentedCode, proof: DpopProof | None
) -> IssuedTokens | OAuthRefusal:
    """Do what `redeem` does for a client that need not authenticate; `trials.py` redeems its own codes."""
    return _redeem(uow, client, presented, proof, *_defer_use(uow, presented, client.id))


def _defer_use(
    uow: UnitOfWork, presented: PresentedCode, client_id: UUID
) -> tuple[Deferred[AuthorizationCode | None], Deferred[Refreshable | None]]:
    """Defer using up a code of a client, and reading its session."""
    code_hash = hash_token(presented.code)
    return uow.authorization_codes.defer_use(code_hash, client_id), uow.authorization_codes.defer_session(code_hash)


def _redeem(
    uow: UnitOfWork,
    client: Client,
    presented: PresentedCode,
    proof: DpopProof | None,
    used: Deferred[AuthorizationCode | None],
    found: Deferred[Refreshable | None],
) -> IssuedTokens | OAuthRefusal:
    security_profile.require_proof(client.security_profile, proof, at=uow.now)
    if proof is not None:
        dpop.accept(uow, proof)
    requests.checked_audience(client, presented.resource)
    code_hash = hash_token(presented.code)
    code = used()
    if code is None:
        return _end(uow, client, code_hash, GrantInvalid())
    try:
        if code.host != uow.origin.host_name:
            raise GrantInvalid("The code was issued under another address of the platform. Exchange it there.")
        granted = _granted(client, code, presented, proof)
    except OAuthRefusal as refusal:
        return _end(uow, client, code_hash, refusal)
    session = found()
    if session is None:
        return GrantInvalid("The session of this code has ended. Sign in again.")
    return issued(uow, take_over(uow, session, granted, code=Secret(presented.code)), nonce=code.nonce)


def _granted(client: Client, code: AuthorizationCode, presented: PresentedCode, proof: DpopProof | None) -> ClientGrant:
    if presented.redirect_uri != code.redirect_uri:
        refusal = GrantInvalid("The redirect_uri does not match the authorization request.")
        raise refusal.about(ProblemKind.REDIRECT_URI, presented.redirect_uri, [code.redirect_uri])
    security_profile.require_challenged(client.security_profile, code.code_challenge)
    pkce.require_verified(code.code_challenge, presented.code_verifier)
    if presented.resource is not None and presented.resource != code.audience:
        raise TargetInvalid("The resource does not match the authorization request.")
    return ClientGrant(
        scopes=code.scopes,
        audience=code.audience,
        key_thumbprint=dpop.bound_to(proof, code.key_thumbprint),
        host=code.host,
        is_confidential=client.is_confidential,
        requested_claims=code.requested_claims,
    )


def _end(uow: UnitOfWork, client: Client, code_hash: bytes, refusal: OAuthRefusal) -> OAuthRefusal:
    """End the session of a code, used or not; return the refusal."""
    used = uow.authorization_codes.find_used(code_hash, client.service.organization_id, client.service.id)
    if used is not None:
        ended = uow.sessions.revoke(used.session_id, user_id=used.user_id)
        sessions.record_ended(uow, used.user_id, used.email, ended, reason=CODE_REUSED)
    return refusal
