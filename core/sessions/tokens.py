"""The kinds of signed tokens, the unsigned claims of an access token, and what the keys say of an unknown one.

The capability that issues a token defines its claims; the port `TokenSigner` signs and verifies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from core.errors import TokenInvalid
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.callers import Caller
from core.sessions.client_grants import ClientGrant
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.token_additions import TokenSubject


class TokenKind(StrEnum):
    """A kind of token, the header's `typ`; a token of one kind is refused where another is expected."""

    ACCESS = "at+jwt"
    PRE_AUTH = "pre-auth+jwt"
    ID = "JWT"
    LOGOUT = "logout+jwt"
    # No credential: it says what an audit log contained (`core/audit/chain.py`).
    AUDIT_HEAD = "audit-head+jwt"


class IssuedElsewhere(TokenInvalid):
    """The token is valid apart from its issuer, which is another host of this installation."""

    def __init__(self, claims: Mapping[str, Any]) -> None:
        super().__init__()
        self.claims = claims


class SigningKeyUnknown(TokenInvalid):
    """The token names an unknown key: it is forged, or another replica signed it with a very recent key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """Claims that the entrypoint signs, and tokens that it returns.

    The audience is the client grant's, else the client, else Gatehouse. `signature_algorithm` is for the access token
    and the ID token: it follows from the record of the service, and is None for Gatehouse's own tokens. The scopes of
    `client_grant` are the tokens' scopes, and `granted_scopes` those within which a refresh may ask. `own_claims` are
    the claims of the product, which ID tokens have.
    """

    user_id: UUID
    session_id: UUID
    client_id: UUID | None
    claims: dict[str, Any] = field(repr=False)
    session_expires_at: datetime
    refresh_token: Secret
    device_token: Secret | None = None
    client_grant: ClientGrant | None = None
    granted_scopes: Sequence[str] = ()
    own_claims: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    is_address_verified: bool = True
    signature_algorithm: SignatureAlgorithm | None = None
    organization_id: UUID | None = None


def token_grant(
    subject: TokenSubject,
    refresh_token: Secret,
    *,
    session_expires_at: datetime,
    device_token: Secret | None = None,
    client_grant: ClientGrant | None = None,
) -> TokenGrant:
    """Return the claims for the current state of the user and the session, with the refresh token."""
    caller, additions = subject.caller, subject.additions
    granted = client_grant
    if client_grant is not None:
        client_grant = client_grant.of_scopes(additions.still_allowed(client_grant.scopes, caller))
    return TokenGrant(
        user_id=caller.account.id,
        session_id=caller.session.id,
        client_id=caller.place.client_id,
        # Gatehouse's own claims always win over claims of a product.
        claims=subject.own_access_claims
        | _common_claims(caller)
        | _optional_claims(subject)
        | (client_grant.claims(caller) if client_grant is not None else _claims_without_grant(subject)),
        session_expires_at=session_expires_at,
        refresh_token=refresh_token,
        device_token=device_token,
        client_grant=client_grant,
        granted_scopes=granted.scopes if granted is not None else (),
        own_claims=subject.own_claims,
        is_address_verified=caller.account.is_verified,
        signature_algorithm=caller.place.signature_algorithm,
        organization_id=caller.place.organization_id,
    )


def claims_of_rows(subject: TokenSubject) -> dict[str, Any]:
    """Return the claims that may change while a token is valid: the roles, the groups, the customer."""
    caller = subject.caller
    claims: dict[str, Any] = {}
    if caller.opened_role is not None:
        claims["role"] = caller.opened_role
    claims |= subject.group_claims
    return claims | caller.service_claims


def _claims_without_grant(subject: TokenSubject) -> dict[str, Any]:
    """Return the claims of a token of the JSON interface: no client has asked, so it has what its user may have."""
    if subject.additions.scopes is None:
        return {}
    return {"scope": " ".join(subject.additions.own_scopes(subject.caller))}


def _common_claims(caller: Caller) -> dict[str, Any]:
    return {
        "sub": str(caller.account.id),
        "email": caller.account.email,
        "sid": str(caller.session.id),
        "amr": caller.session.amr,
        "auth_time": int(caller.session.authenticated_at.timestamp()),
    }


def _optional_claims(subject: TokenSubject) -> dict[str, Any]:
    """Return the claims that only some tokens have; a claim that does not apply is absent rather than empty."""
    caller = subject.caller
    claims: dict[str, Any] = {}
    if caller.place.organization_slug is not None:
        claims["org"] = caller.place.organization_slug
    if caller.place.service_slug is not None:
        claims["service"] = caller.place.service_slug
    if caller.place.plan is not None:
        claims["plan"] = caller.place.plan.name
        claims["subscription_status"] = caller.place.plan.subscription_status
        claims["features"] = caller.place.plan.features
    claims |= claims_of_rows(subject)
    if caller.account.is_platform_owner and caller.place.customer is None:
        claims["is_platform_owner"] = True
    if caller.account.is_platform_support and caller.place.customer is None:
        claims["is_platform_support"] = True
    if caller.limits.impersonator_id is not None:
        claims["impersonator"] = str(caller.limits.impersonator_id)
        # The same in the form of RFC 8693 4.1, for programs that know nothing of Gatehouse.
        claims["act"] = {"sub": str(caller.limits.impersonator_id)}
        claims["impersonation_session"] = str(caller.session.id)
    return claims
