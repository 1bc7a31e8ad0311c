"""ID tokens: what a service learns about the sign-in of its user (OpenID Connect Core, 2)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from core.openid import requested_claims, scopes
from core.openid.token_grants import IssuedTokens
from core.sessions.customer_contexts import CUSTOMER_CLAIMS
from core.sessions.tokens import TokenGrant

GROUP_CLAIMS: Final = ("groups", "groups_overage")


def is_due(granted: Sequence[str]) -> bool:
    """Return whether a token response includes an ID token."""
    return scopes.OPENID in granted


def claims_of(issued: IssuedTokens, access_token: str) -> dict[str, Any]:
    """Return the claims of the ID token that belongs to an access token."""
    grant = issued.grant
    granted = grant.client_grant.scopes if grant.client_grant is not None else ()
    asked = grant.client_grant.requested_claims if grant.client_grant is not None else None
    claims: dict[str, Any] = dict(grant.own_claims)
    claims |= {name: grant.claims[name] for name in ("sub", "sid", "amr", "auth_time")}
    claims |= {
        "aud": str(grant.client_id),
        "acr": requested_claims.context_class(claims["amr"], asked),
        "at_hash": _half_hash(access_token),
    }
    claims |= {name: grant.claims[name] for name in (*GROUP_CLAIMS, *CUSTOMER_CLAIMS) if name in grant.claims}
    named = requested_claims.of(asked, "id_token")
    claims |= requested_claims.chosen(of_user(grant, issued.names, scopes.ALL), named)
    claims |= of_user(grant, issued.names, granted)
    if issued.nonce is not None:
        claims["nonce"] = issued.nonce
    return claims


def of_user(grant: TokenGrant, names: Mapping[str, str], granted: Collection[str]) -> dict[str, Any]:
    """Return the claims about the user that these scopes open."""
    claims: dict[str, Any] = {}
    if scopes.EMAIL in granted:
        claims |= {"email": grant.claims["email"], "email_verified": grant.is_address_verified}
    if scopes.PROFILE in granted:
        claims |= {"preferred_username": grant.claims["email"], **names}
    return claims


def _half_hash(token: str) -> str:
    """Return the left half of the SHA-256 of a token (OpenID Connect Core, 3.1.3.6)."""
    digest = hashlib.sha256(token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).decode().rstrip("=")
