"""Signed tokens in the compact form (RFC 7515): parsing, keys, and whether a key has made a signature.

A token has one text. Readers of base64 accept others, with padding or other unused last bits of a part: a list of
tokens by their texts, or by hashes of these, would not find such a second encoding.
`claims.py` checks the claims of a token, and `keys.py` finds the keys.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, cast

import jwt
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from gatehouse_client.errors import TokenRefused

TOKEN_CHARACTERS_MAX: Final = 16_384
RSA_BITS_MIN: Final = 2048
HEADERS_MAX: Final = 128
# The algorithms that a key may be used with follow from its type and curve, never from the token alone.
ALGORITHMS: Final[Mapping[tuple[str, str | None], tuple[str, ...]]] = {
    ("RSA", None): ("RS256", "PS256"),
    ("EC", "P-256"): ("ES256",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
# Three characters encode two bytes, two characters one: of the last character, two bits or four are zero.
_PART: Final = (
    # Blocks of 64 first: by fours alone, a long text of a stranger takes five times as long.
    r"(?:[A-Za-z0-9_-]{64})*+(?:[A-Za-z0-9_-]{4}){0,15}+"
    r"(?:[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9_-][AQgw])?"
)
_BASE64URL: Final = re.compile(_PART)
_COMPACT: Final = re.compile(rf"{_PART}\.{_PART}\.{_PART}")
_PUBLIC_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "RSA": ("kty", "n", "e"),
    "EC": ("kty", "crv", "x", "y"),
    "OKP": ("kty", "crv", "x"),
}


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token that was parsed and not verified."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any] = field(repr=False)
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)

    @property
    def algorithm(self) -> str:
        """The algorithm that the header names; an empty text when it names none."""
        return _text(self.header.get("alg"))

    @property
    def key_id(self) -> str:
        """The key that the header names; an empty text when it names none."""
        return _text(self.header.get("kid"))


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public key, and the algorithms that it may be used with."""

    id: str
    algorithms: tuple[str, ...]
    public: Any = field(repr=False)


def parse(token: str) -> SignedToken:
    """Parse a token in compact form; raise `TokenRefused` for any other text."""
    if len(token) > TOKEN_CHARACTERS_MAX:
        raise TokenRefused("the token is too long")
    if _COMPACT.fullmatch(token) is None:
        raise TokenRefused("the token is no signed JWT")
    header, claims, signature = token.split(".")
    signed = token.rpartition(".")[0].encode()
    parsed = SignedToken(_header(header), _object(_bytes(claims)), signed, _bytes(signature))
    if "crit" in parsed.header:
        raise TokenRefused("the header of the token has a critical extension")
    return parsed


def require_signature(token: SignedToken, key: VerificationKey) -> None:
    """Raise `TokenRefused` unless the key has signed the token, by an algorithm that is for this key."""
    if token.algorithm not in key.algorithms:
        raise TokenRefused(f"the algorithm {token.algorithm!r} is not for this key")
    algorithm = jwt.get_algorithm_by_name(token.algorithm)
    if not algorithm.verify(token.signed, key.public, token.signature):
        raise TokenRefused("the signature of the token is wrong")


def key_of(jwk: Mapping[str, Any]) -> VerificationKey | None:
    """Return the key of a JSON web key; None for one that signs no tokens: symmetric, weak, or for encryption."""
    kind = _text(jwk.get("kty"))
    curve = jwk.get("crv") if kind != "RSA" else None
    allowed = ALGORITHMS.get((kind, curve)) if curve is None or isinstance(curve, str) else None
    if allowed is None or jwk.get("use", "sig") != "sig":
        return None
    if "alg" in jwk:
        allowed = tuple(algorithm for algorithm in allowed if algorithm == jwk["alg"])
    public = _public_key(kind, jwk)
    return VerificationKey(_text(jwk.get("kid")), allowed, public) if public is not None and allowed else None


def _public_key(kind: str, jwk: Mapping[str, Any]) -> Any:
    # Without the private part, a published private key could not turn into a signing key here.
    parts = {name: jwk[name] for name in _PUBLIC_PARTS[kind] if isinstance(jwk.get(name), str)}
    readers = {"RSA": RSAAlgorithm.from_jwk, "EC": ECAlgorithm.from_jwk, "OKP": OKPAlgorithm.from_jwk}
    try:
        public: Any = readers[kind](parts)
    except (jwt.PyJWTError, ValueError):
        return None
    return None if kind == "RSA" and public.key_size < RSA_BITS_MIN else public


def encoded(value: bytes) -> str:
    """Return the value in base64url, without padding."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def decoded(text: str) -> bytes:
    """Return what was encoded; raise `TokenRefused` for a text that `encoded` does not write."""
    if _BASE64URL.fullmatch(text) is None:
        raise TokenRefused("the text is no base64url")
    return _bytes(text)


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@lru_cache(maxsize=HEADERS_MAX)
def _header(text: str) -> dict[str, Any]:
    """Return the header of a token. All tokens that a key has signed have the same one, so it is parsed once."""
    return _object(_bytes(text))


def _object(value: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(value.decode())
    except (ValueError, RecursionError) as problem:
        raise TokenRefused("a part of the token is no JSON") from problem
    if not isinstance(parsed, dict):
        raise TokenRefused("a part of the token is no JSON object")
    return cast("dict[str, Any]", parsed)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
