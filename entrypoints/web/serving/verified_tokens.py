"""Verifying the signed tokens of requests: the signature, the time, and the host that issued them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from core.hosts import under
from core.organizations.settings import domain
from core.sessions.tokens import IssuedElsewhere, SigningKeyUnknown, TokenKind
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.hosts import host_name


async def verified_access_token(call: Call, token: str) -> Mapping[str, Any]:
    """Return the claims of an access token; raise `TokenExpired` or `TokenInvalid`.

    Under the base URL, a token that was issued under the custom domain of an organization counts for that organization.
    """
    try:
        return await verified_token(call, token, TokenKind.ACCESS, host=call.host_name)
    except IssuedElsewhere as elsewhere:
        if call.custom_host is not None or not await _is_of_custom_host(call, elsewhere.claims):
            raise
        return elsewhere.claims


async def verified_token(call: Call, token: str, kind: TokenKind, *, host: str | None = None) -> Mapping[str, Any]:
    """Return the claims of a token that was issued under a custom host, or under the base URL for None."""
    installation = call.installation
    try:
        return installation.tokens.verify(token, kind=kind, now=installation.clock(), host=host)
    except SigningKeyUnknown:
        # Another replica may have rotated the keys a moment ago.
        await installation.key_refresh.catch_up()
        return installation.tokens.verify(token, kind=kind, now=installation.clock(), host=host)


async def _is_of_custom_host(call: Call, claims: Mapping[str, Any]) -> bool:
    """Return whether the issuer is a custom domain that is in force, of the organization that the token names."""
    issuer: str = claims["iss"]
    host = await call.read(domain.host, host_name(urlsplit(issuer).netloc))
    if host is None or issuer != under(host.name, call.installation.settings.base_url):
        return False
    return claims.get("org") == host.organization_slug
