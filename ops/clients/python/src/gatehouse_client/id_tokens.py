"""ID tokens and logout tokens: what they have to say beside what every token does (OpenID Connect)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from gatehouse_client import claims as every
from gatehouse_client.claims import Rules
from gatehouse_client.errors import TokenRefused
from gatehouse_client.signatures import encoded

ID_TOKEN_KINDS: Final = ("JWT", None)
LOGOUT_TOKEN_KINDS: Final = ("logout+jwt",)
LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
# A logout token is good for two minutes; one that says more is kept so long as used.
LOGOUT_SECONDS_MAX: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Logout:
    """The sessions that a logout token ends: one, or without `sid` all of a person. A `token_id` is used once."""

    sid: str | None
    sub: str | None
    token_id: str
    expires_at: float


def require_id_token(
    claims: Mapping[str, Any], rules: Rules, *, access_token: str, nonce: str | None, at: float
) -> None:
    """Raise `TokenRefused` unless an ID token is for this client, sign-in and access token; None for no nonce."""
    every.require(claims, rules, at=at)
    [client_id] = rules.audiences
    party = claims.get("azp", client_id if len(every.audiences(claims)) == 1 else None)
    if party != client_id:
        raise TokenRefused("the ID token is for another party")
    if nonce is not None and not _is_same(claims.get("nonce"), nonce):
        raise TokenRefused("the ID token is of another sign-in")
    digest = hashlib.sha256(access_token.encode()).digest()
    if not _is_same(claims.get("at_hash"), encoded(digest[: len(digest) // 2])):
        raise TokenRefused("the ID token belongs to another access token")


def read_logout_token(claims: Mapping[str, Any], rules: Rules, *, at: float) -> Logout:
    """Return what a logout token ends; raise `TokenRefused` for any other token (Back-Channel Logout, 2.6)."""
    # A logout token may name the session alone, and every other token has a `sub`.
    every.require({"sub": claims.get("sid"), **claims}, rules, at=at)
    events: object = claims.get("events")
    if not isinstance(events, dict) or not isinstance(cast("dict[str, object]", events).get(LOGOUT_EVENT), dict):
        raise TokenRefused("the token is about no logout")
    if "nonce" in claims:
        raise TokenRefused("a logout token has no nonce")
    sid, sub, token_id = (_text(claims, name) for name in ("sid", "sub", "jti"))
    if token_id is None or (sid is None and sub is None):
        raise TokenRefused("the logout token names neither session nor person, or has no id")
    expires_at = min(every.seconds(claims, "exp"), at + LOGOUT_SECONDS_MAX) + 2 * rules.leeway_seconds
    return Logout(sid=sid, sub=sub, token_id=token_id, expires_at=expires_at)


def _is_same(value: object, expected: str) -> bool:
    return isinstance(value, str) and hmac.compare_digest(value.encode(), expected.encode())


def _text(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name)
    return value if isinstance(value, str) and value else None
