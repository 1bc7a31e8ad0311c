"""What a sign-in or a refresh gives: the claims of an access token, not yet signed, and the refresh token beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.secrets import Secret
    from core.sessions.callers import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """What the entrypoint signs and hands over. Without a `client_id` the token is for the installation itself."""

    user_id: UUID
    session_id: UUID
    client_id: UUID | None
    claims: dict[str, Any] = field(repr=False)
    session_expires_at: datetime
    refresh_token: Secret
    device_token: Secret | None = None


def token_grant(
    caller: Caller, refresh_token: Secret, *, session_expires_at: datetime, device_token: Secret | None = None
) -> TokenGrant:
    """Put into claims what holds for this person in this session now (decisions 2.1)."""
    return TokenGrant(
        user_id=caller.user_id,
        session_id=caller.session_id,
        client_id=caller.service_client_id,
        claims=_always(caller) | _where_it_applies(caller),
        session_expires_at=session_expires_at,
        refresh_token=refresh_token,
        device_token=device_token,
    )


def _always(caller: Caller) -> dict[str, Any]:
    return {
        "sub": str(caller.user_id),
        "email": caller.email,
        "sid": str(caller.session_id),
        "amr": caller.amr,
        "auth_time": int(caller.authenticated_at.timestamp()),
    }


def _where_it_applies(caller: Caller) -> dict[str, Any]:
    """List what is true of some tokens only; elsewhere the claim is absent rather than empty."""
    claims: dict[str, Any] = {}
    if caller.organization_slug is not None:
        claims["org"] = caller.organization_slug
    if caller.role is not None:
        claims["role"] = caller.role
    if caller.service_slug is not None:
        claims["service"] = caller.service_slug
    if caller.is_platform_owner:
        claims["is_platform_owner"] = True
    if caller.impersonator_id is not None:
        claims["impersonator"] = str(caller.impersonator_id)
        claims["impersonation_session"] = str(caller.session_id)
    return claims
