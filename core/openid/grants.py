"""The grants of the token endpoint without a code: refresh tokens, and the credentials of a client itself.

Codes are in `codes.py`, devices in `device.py`.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.openid import clients, dpop, requested_claims, requests, scopes, security_profile
from core.openid.clients import PresentedClient
from core.openid.dpop import DpopProof
from core.openid.refusals import GrantInvalid
from core.secrets import Secret
from core.sessions import refresh as sessions_refresh
from core.sessions.client_grants import ClientGrant, RefreshingClient
from core.sessions.refresh import Refreshable, RefreshRefused, TokenReused
from core.sessions.signature_algorithms import SignatureAlgorithm
from core.sessions.token_claims import TokenGrant

if TYPE_CHECKING:
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
    security_profile.require_proof(client.security_profile, proof, at=uow.now)
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
    security_profile.require_code_grant(client.security_profile)
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
