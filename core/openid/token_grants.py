"""The grants of the token endpoint: codes, refresh tokens, and credentials of a client; devices are in `device.py`.

A browser carries a code to the service, whose backend exchanges it for tokens, once. The session of the service begins
when the code is issued, and its tokens are handed out for the code. A code that is used again, or with a wrong
parameter, was seen by another party: the session ends with everything that came of it (RFC 6749, 4.1.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid import clients, dpop, pkce, requested_claims, requests, scopes
from core.openid.clients import Client, PresentedClient
from core.openid.dpop import DpopProof
from core.openid.refusals import GrantInvalid, OAuthRefusal, TargetInvalid
from core.openid.requests import AuthorizationRequest
from core.secrets import Secret, hash_token
from core.services.problems import ProblemKind
from core.sessions import refresh as sessions_refresh
from core.sessions import sessions
from core.sessions.client_grants import ClientGrant, RefreshingClient
from core.sessions.refresh import Refreshable, RefreshRefused, TokenReused
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.tokens import TokenGrant

if TYPE_CHECKING:
    from core.deferred import Deferred
    from core.sessions.refresh import Refreshable
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedTokens:
    """The tokens of a session for its service; with the scope `openid` the entrypoint adds an ID token.

    `names` has the claims about the user's names, for the scope `profile`.
    """

    grant: TokenGrant
    nonce: str | None = None
    names: dict[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientToken:
    """The claims of a token for a client itself, which opens nothing at Gatehouse."""

    client_id: UUID
    audience: str | None
    claims: dict[str, Any] = field(repr=False)
    signature_algorithm: SignatureAlgorithm


def refresh(
    uow: UnitOfWork, presented: PresentedClient, refresh_token: str, *, scope: str | None, proof: DpopProof | None
) -> IssuedTokens | TokenReused:
    """Exchange a refresh token for the client to which it was issued; raise `GrantInvalid` or `ScopeInvalid`.

    For `TokenReused` the entrypoint calls `refresh.end_reused`, as at the other endpoint.
    """
    client = clients.authenticate(uow, presented)
    clients.require_proof(client.security_profile, proof, at=uow.now)
    if proof is not None:
        dpop.accept(uow, proof)
    refreshing = RefreshingClient(
        client_id=client.id, key_thumbprint=proof.key_thumbprint if proof is not None else None
    )
    try:
        outcome = sessions_refresh.refresh(uow, refresh_token, client=refreshing)
    except RefreshRefused as refused:
        raise GrantInvalid(refused.message) from None
    if isinstance(outcome, TokenReused):
        return outcome
    granted = outcome.client_grant
    if granted is None or not scope:
        # A parameter without a value counts as left out (RFC 6749, 3.2).
        return issued(uow, outcome)
    wanted = scopes.narrowed(scope, outcome.granted_scopes)
    # A scope that the user may not have at present stays granted, and comes back with their right to it.
    narrowed = granted.of_scopes([one for one in wanted if one in granted.scopes])
    claims = outcome.claims | {"scope": " ".join(narrowed.scopes)}
    return issued(uow, replace(outcome, client_grant=narrowed, claims=claims))


def issued(uow: UnitOfWork, grant: TokenGrant, *, nonce: str | None = None) -> IssuedTokens:
    """Return the tokens of a session, with what an ID token needs besides."""
    names = scopes.names_of(uow, grant.user_id, grant.organization_id) if _has_names(grant.client_grant) else {}
    return IssuedTokens(grant=grant, nonce=nonce, names=names)


def _has_names(granted: ClientGrant | None) -> bool:
    """Return whether the ID token has the user's names: by the scope, or because the request named the claims."""
    if granted is None or scopes.OPENID not in granted.scopes:
        return False
    named = requested_claims.of(granted.requested_claims, "id_token")
    return scopes.PROFILE in granted.scopes or not set(requested_claims.NAMES).isdisjoint(named)


def take_over(
    uow: UnitOfWork, session: Refreshable, granted: ClientGrant | None, *, code: Secret | None = None
) -> TokenGrant:
    """Take over a session that began for a client, perhaps with an authorization code.

    Raise `GrantInvalid` when its user may not use the service any more.
    """
    try:
        return sessions_refresh.take_over(uow, session, granted, code=code)
    except RefreshRefused as refused:
        raise GrantInvalid(refused.message) from None


def client_credentials(
    uow: UnitOfWork,
    presented: PresentedClient,
    *,
    scope: str | None,
    resource: str | None,
    proof: DpopProof | None,
) -> ClientToken:
    """Return the claims of a token for an authenticated client; raise `ClientUnauthorized` for a public one.

    Raise `WayUnauthorized` for one with a security profile.
    """
    client = clients.authenticate_confidential(uow, presented)
    clients.require_code_grant(client.security_profile)
    if proof is not None:
        dpop.accept(uow, proof)
    claims: dict[str, Any] = {"sub": str(client.id), "client_id": str(client.id)}
    claims |= scopes.claim_of(scopes.of_machines(scope, client.service))
    if proof is not None:
        claims["cnf"] = {"jkt": proof.key_thumbprint}
    return ClientToken(
        client_id=client.id,
        audience=requests.checked_audience(client, resource),
        claims=claims,
        signature_algorithm=client.service.signature_algorithm,
    )


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
    clients.require_proof(client.security_profile, proof, at=uow.now)
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
    clients.require_challenged(client.security_profile, code.code_challenge)
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
