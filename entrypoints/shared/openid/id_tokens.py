"""The signed ID token of issued tokens, and ID tokens that come back as hints, which open nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.errors import TokenInvalid
from core.openid import id_tokens
from core.openid.token_grants import IssuedTokens
from core.sessions.tokens import TokenKind
from entrypoints.web.serving.calls import Call


def signed_id_token(call: Call, issued: IssuedTokens, access_token: str) -> str | None:
    """Return the ID token that belongs to an access token; None where the scopes ask for none."""
    installation, grant = call.installation, issued.grant
    if grant.client_grant is None or not id_tokens.is_due(grant.client_grant.scopes):
        return None
    now = installation.clock()
    return installation.tokens.sign(
        id_tokens.claims_of(issued, access_token),
        kind=TokenKind.ID,
        lifetime=min(installation.settings.access_token_ttl, grant.session_expires_at - now),
        now=now,
        host=call.host_name,
        algorithm=grant.signature_algorithm or installation.settings.token_signing,
    )


def hinted_claims(call: Call, text: str) -> Mapping[str, Any] | None:
    """Return the claims of an ID token of ours; None for any other text.

    It is taken also when it has expired, as OpenID Connect wants it: it is verified as at the beginning of time.
    """
    try:
        return call.installation.tokens.verify(
            text, kind=TokenKind.ID, now=datetime.fromtimestamp(0, UTC), host=call.host_name
        )
    except TokenInvalid:
        return None
