"""The port `Signatures`: tokens that clients, and providers of organizations, have signed with their own keys.

Only asymmetric algorithms are taken, and each only with a key of its type, so that no public key is ever used as a
secret. A key that names an algorithm or a use is used for nothing else. A token is taken in the one way to write it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Container, Iterable, Mapping
from itertools import islice
from typing import Any, Final, cast, final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from adapters.crypto.compact_form import COMPACT_FORM, decoded
from core.openid.clients import KeySet
from core.openid.dpop import SelfSigned

TOKEN_CHARACTERS_MAX: Final = 8192
RSA_BITS_MIN: Final = 2048
RSA_BITS_MAX: Final = 8192
# Verifying takes time in proportion to the exponent, which is 65537 nearly everywhere.
EXPONENT_BITS_MAX: Final = 64
# The most keys that are tried for a token, which need not name one. A set may have thousands, and each takes its time.
# A client can store no more keys with us (`core/services/client_records.py`).
KEYS_TRIED_MAX: Final = 20
# The algorithms, each with the type and the curve of its keys.
_ALGORITHMS: Final[dict[str, tuple[str, str | None]]] = {
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
# The limits of a remembered key set from others: a provider or a client has few keys, an RSA key of `RSA_BITS_MAX` has
# a text of 1,366 characters, and other members of a key are not read.
KEYS_REMEMBERED_MAX: Final = 100
MEMBER_CHARACTERS_MAX: Final = 2048
_MEMBERS: Final = ("kty", "crv", "alg", "use", "kid", "n", "e", "x", "y")
# The members that make up the thumbprint of a public key (RFC 7638, 3.2; RFC 8037, 2).
_THUMBPRINT_MEMBERS: Final = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}
_PRIVATE: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_JWS: Final = jwt.PyJWS(algorithms=list(_ALGORITHMS))


@final
class JsonWebSignatures:
    """The port `Signatures`."""

    algorithms = tuple(_ALGORITHMS)

    def named_issuer(self, token: str) -> str | None:
        claims = self.unverified(token)
        issuer = claims.get("iss") if claims is not None else None
        return issuer if isinstance(issuer, str) else None

    def named_type(self, token: str) -> object:
        return (_header(token) or {}).get("typ")

    def unverified(self, token: str) -> Mapping[str, Any] | None:
        if _header(token) is None:
            return None
        return _object(decoded(token.partition(".")[2].partition(".")[0]))

    def verified(
        self, token: str, keys: KeySet, *, algorithms: Container[str] | None = None, kind: str | None = None
    ) -> Mapping[str, Any] | None:
        header = _header(token)
        if header is None or (algorithms is not None and header["alg"] not in algorithms):
            return None
        if kind is not None and not _has_type(header, kind):
            return None
        return verified_claims(token, keys.get("keys", []))

    def self_signed(self, token: str, *, kind: str) -> SelfSigned | None:
        header = _header(token)
        if header is None or header.get("typ") != kind:
            return None
        key = header.get("jwk")
        if not isinstance(key, dict) or _PRIVATE & cast("dict[str, Any]", key).keys():
            return None
        claims = _claims(token, header["alg"], cast("dict[str, Any]", key))
        if claims is None:
            return None
        return SelfSigned(
            key_thumbprint=_thumbprint(cast("dict[str, str]", key)), algorithm=header["alg"], claims=claims
        )


def verified_claims(
    token: str, keys: Iterable[Mapping[str, Any]], *, characters_max: int = TOKEN_CHARACTERS_MAX
) -> Mapping[str, Any] | None:
    """Return the claims of a token that one of the first keys that fit has signed; None for any other text."""
    header = _header(token, characters_max)
    if header is None:
        return None
    algorithm = header["alg"]
    named = (key for key in keys if "kid" not in header or key.get("kid") == header["kid"])
    tried = islice((key for key in named if _fits(key, algorithm)), KEYS_TRIED_MAX)
    return next((claims for key in tried if (claims := _claims(token, algorithm, key)) is not None), None)


def remembered_keys(listed: Any) -> list[dict[str, str]]:
    """Return the keys of a list with the members that are read; without what is no key, or too long for one."""
    if not isinstance(listed, list):
        return []
    objects = (cast("dict[str, Any]", key) for key in cast("list[Any]", listed) if isinstance(key, dict))
    named = ({name: key[name] for name in _MEMBERS if name in key} for key in objects)
    short = (key for key in named if all(_is_short_text(value) for value in key.values()))
    return list(islice(short, KEYS_REMEMBERED_MAX))


def _has_type(header: Mapping[str, Any], kind: str) -> bool:
    """Return whether a header names this `typ` (RFC 7515, 4.1.9: in any case, and `application/` may be left out)."""
    named = header.get("typ")
    return isinstance(named, str) and named.lower().removeprefix("application/") == kind


def _is_short_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MEMBER_CHARACTERS_MAX


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    key_type, curve = _ALGORITHMS[algorithm]
    if key.get("kty") != key_type or key.get("crv") != curve:
        return False
    return key.get("alg", algorithm) == algorithm and key.get("use", "sig") == "sig"


def _claims(token: str, algorithm: str, key: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the claims if this key, with this algorithm, has signed the token."""
    if not _fits(key, algorithm):
        return None
    try:
        public = jwt.PyJWK(dict(key), algorithm).key
        if isinstance(public, RSAPublicKey) and not _is_usable(public):
            return None
        return _object(_JWS.decode(token, public, [algorithm]))
    except (jwt.PyJWTError, ValueError, TypeError):
        return None


def _is_usable(public: RSAPublicKey) -> bool:
    is_short = public.public_numbers().e.bit_length() <= EXPONENT_BITS_MAX
    return is_short and RSA_BITS_MIN <= public.key_size <= RSA_BITS_MAX


def _header(token: str, characters_max: int = TOKEN_CHARACTERS_MAX) -> dict[str, Any] | None:
    if len(token) > characters_max or COMPACT_FORM.fullmatch(token) is None:
        return None
    header = _object(decoded(token.partition(".")[0]))
    # An extension that is marked as critical would have to be understood (RFC 7515, 4.1.11).
    if header is None or "crit" in header:
        return None
    # The header is whatever a stranger writes, so its values may be of any type.
    if not isinstance(header.get("alg"), str) or not isinstance(header.get("typ", ""), str):
        return None
    return header if header["alg"] in _ALGORITHMS else None


def _thumbprint(key: Mapping[str, str]) -> str:
    """Return the SHA-256 thumbprint of a public key (RFC 7638)."""
    members = {name: key[name] for name in _THUMBPRINT_MEMBERS[key["kty"]]}
    canonical = json.dumps(members, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).decode().rstrip("=")


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
