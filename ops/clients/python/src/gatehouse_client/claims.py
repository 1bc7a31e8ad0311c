"""Checking the claims of every token of Gatehouse: its issuer, its audience, and its times."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from gatehouse_client.errors import TokenRefused

LEEWAY_SECONDS_MAX: Final = 10.0
# The end of the year 9999, after which Python has no time.
SECONDS_MAX: Final = 253_402_300_800


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The issuer and the audiences of which one is required, and by how much clocks may differ."""

    issuer: str
    audiences: Collection[str]
    leeway_seconds: float = LEEWAY_SECONDS_MAX

    def __post_init__(self) -> None:
        """Raise `ValueError` for rules that would let too much in."""
        if not 0 <= self.leeway_seconds <= LEEWAY_SECONDS_MAX:
            raise ValueError(f"the leeway is between 0 and {LEEWAY_SECONDS_MAX:.0f} seconds")
        if not self.audiences or not all(self.audiences):
            raise ValueError("name the audience: the client id of the service, or the address of the API")


def require(claims: Mapping[str, Any], rules: Rules, *, at: float) -> None:
    """Raise `TokenRefused` unless these claims hold at that time."""
    if claims.get("iss") != rules.issuer:
        raise TokenRefused("the token has another issuer")
    if not set(audiences(claims)) & set(rules.audiences):
        raise TokenRefused("the token has another audience")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise TokenRefused("the token has no sub")
    if seconds(claims, "exp") <= at - rules.leeway_seconds:
        raise TokenRefused("the token has expired")
    if seconds(claims, "iat") > at + rules.leeway_seconds:
        raise TokenRefused("the token was issued in the future")
    if "nbf" in claims and seconds(claims, "nbf") > at + rules.leeway_seconds:
        raise TokenRefused("the token is not valid yet")


def audiences(claims: Mapping[str, Any]) -> list[str]:
    """Return the audiences of a token; none for a claim of another form."""
    named = claims.get("aud")
    values = cast("list[object]", named) if isinstance(named, list) else [named]
    return [value for value in values if isinstance(value, str)]


def seconds(claims: Mapping[str, Any], name: str) -> float:
    """Return the time of a claim; raise `TokenRefused` for one that is missing or no number."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < SECONDS_MAX:
        raise TokenRefused(f"the token has no {name}")
    return float(value)
