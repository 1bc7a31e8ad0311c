"""Signed tokens: the key ring that a process keeps in memory, and the signer that uses it.

The keys are stored by `adapters/postgres/sessions/signing_keys.py`, and `actors/key_refresher.py` loads them. A token
is accepted only if its header is exactly one that Gatehouse writes, so a forger can choose nothing: no key in the
header, no critical extension, and only the algorithm of the key that the header names. Another encoding of the same
bytes (`compact_form.py`) is refused. The holder of a token can make a second valid signature of it by ES256, so
revocation goes by the id of a token or session, never by the token's text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, cast, final

import msgspec

from adapters.crypto.compact_form import COMPACT_FORM, decoded
from adapters.crypto.key_pairs import (
    PrivateKey,
    PublicKey,
    algorithm_of,
    has_signed,
    json_web_key,
    parse_json_web_key,
    parse_public,
    parse_signing,
    signature_of,
)
from core.errors import ServiceUnavailable, TokenExpired, TokenInvalid
from core.hosts import under
from core.lazy_dataclasses import dataclass
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import RING_AGE_MAX, KeyState, SigningKey
from core.sessions.tokens import IssuedElsewhere, SigningKeyUnknown, TokenKind
from ports.clock import Randomness

# A usual token has about a thousand; a plan with very many features makes more. Nothing longer is parsed.
TOKEN_CHARACTERS_MAX = 8192
# How many verified tokens are cached by their hashes; each takes about two kilobytes.
VERIFIED_TOKENS_MAX = 5_000
RETRY_AFTER_SECONDS = 1
# The claims that only the signer sets.
_OWN_CLAIMS = frozenset({"iss", "iat", "exp", "jti"})
_TEXT_CLAIMS = ("iss", "sub", "aud", "jti")
_TIME_CLAIMS = ("iat", "exp")

_ALGORITHM_ORDER = tuple(SignatureAlgorithm)
_PUBLICATION_ORDER = (KeyState.ACTIVE, KeyState.NEXT, KeyState.RETIRED)


@dataclass(frozen=True, slots=True)
class _PublishedKey:
    """A key that verifies signatures, parsed once."""

    public: PublicKey
    json_web_key: dict[str, str]


@dataclass(frozen=True, slots=True)
class _SigningKey:
    """The private key that signs, parsed once."""

    kid: str
    private: PrivateKey


@dataclass(frozen=True, slots=True)
class _Verified:
    """The claims of a token whose signature was verified, and the key id that signed it."""

    kid: str
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Keys:
    """The content of a key ring in one object, so that it is replaced in one step."""

    published: Mapping[str, _PublishedKey]
    signing: Mapping[SignatureAlgorithm, _SigningKey]
    loaded_at_seconds: float


@final
class SigningKeyRing:
    """The port `KeyRing`."""

    def __init__(self, monotonic_seconds: Callable[[], float] = time.monotonic) -> None:
        # Not the clock of the transactions: the age of the keys in memory does not depend on the time of day.
        self._monotonic_seconds = monotonic_seconds
        self._keys = _Keys({}, {}, monotonic_seconds())

    def load(self, keys: Sequence[SigningKey]) -> None:
        """Replace the keys; each is parsed once, and the private key only of the active ones."""
        known = self._keys
        in_order = sorted(
            keys, key=lambda key: (_ALGORITHM_ORDER.index(key.algorithm), _PUBLICATION_ORDER.index(key.state))
        )
        published = {key.kid: known.published.get(key.kid) or _published(key) for key in in_order}
        signing = {
            key.algorithm: _parsed(key, known.signing.get(key.algorithm))
            for key in keys
            if key.state is KeyState.ACTIVE
        }
        self._keys = _Keys(published, signing, self._monotonic_seconds())

    def public_key(self, kid: str) -> PublicKey | None:
        """Return the published key with this id, or None."""
        key = self._keys.published.get(kid)
        return key.public if key else None

    def signing_key(self, algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256) -> tuple[str, PrivateKey]:
        """Return the key that signs, and its id; raise `ServiceUnavailable` when none is loaded or it is too old."""
        keys = self._keys
        age_seconds = self._monotonic_seconds() - keys.loaded_at_seconds
        signing = keys.signing.get(algorithm)
        if signing is None or age_seconds > RING_AGE_MAX.total_seconds():
            raise ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)
        return signing.kid, signing.private

    def jwks(self) -> list[dict[str, str]]:
        """List the public keys as JSON Web Keys, the keys of each kind together, the active one first."""
        return [dict(key.json_web_key) for key in self._keys.published.values()]


@final
class JwtTokenSigner:
    """The port `TokenSigner`."""

    def __init__(self, ring: SigningKeyRing, *, issuer: str, randomness: Randomness) -> None:
        self._ring = ring
        self._issuer = issuer
        self._randomness = randomness
        self._verified_tokens: dict[bytes, _Verified] = {}

    def sign(
        self,
        claims: Mapping[str, Any],
        *,
        kind: TokenKind,
        lifetime: timedelta,
        now: datetime,
        host: str | None = None,
        algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256,
    ) -> str:
        """Sign claims, to which `iss`, `iat`, `exp` and `jti` are added."""
        assert not _OWN_CLAIMS & claims.keys(), f"only the signer sets the claims {sorted(_OWN_CLAIMS)}"
        assert all(claims.get(name) for name in ("sub", "aud")), "a token needs a subject and an audience"
        kid, private = self._ring.signing_key(algorithm)
        issued_at = int(now.timestamp())
        header = {"alg": algorithm.value, "kid": kid, "typ": kind.value}
        payload = {
            "iss": under(host, self._issuer),
            **claims,
            "jti": str(self._randomness.new_id()),
            "iat": issued_at,
            "exp": issued_at + int(lifetime.total_seconds()),
        }
        signed = b"%s.%s" % (_encoded(header), _encoded(payload))
        return (b"%s.%s" % (signed, _base64url(signature_of(private, signed)))).decode()

    def verify(self, token: str, *, kind: TokenKind, now: datetime, host: str | None = None) -> Mapping[str, Any]:
        """Return the claims of a token of this kind that Gatehouse signed and that has not expired."""
        if len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
            raise TokenInvalid
        return _checked(self._signed_claims(token, kind), under(host, self._issuer), now)

    def jwks(self) -> list[dict[str, str]]:
        """List the public keys as JSON Web Keys."""
        return self._ring.jwks()

    def _signed_claims(self, token: str, kind: TokenKind) -> Mapping[str, Any]:
        """Return the claims if the signature is valid; a token comes with every request, and is verified once."""
        mark = hashlib.sha256(f"{kind.value} {token}".encode()).digest()
        cached = self._verified_tokens.get(mark)
        # Only while the key is published: a token that was signed with a withdrawn key is no longer valid.
        if cached is not None and self._ring.public_key(cached.kid) is not None:
            return cached.claims
        verified = _verified(token, kind, self._ring.public_key)
        if len(self._verified_tokens) >= VERIFIED_TOKENS_MAX:
            self._verified_tokens.pop(next(iter(self._verified_tokens)), None)
        self._verified_tokens[mark] = verified
        return verified.claims


@final
class KeptKeys:
    """The port `SignatureVerifier`: the keys of a JSON Web Key Set."""

    def __init__(self, jwks: bytes) -> None:
        """Read a JSON Web Key Set; raise `ValueError` for anything else."""
        try:
            self._keys = {str(key["kid"]): parse_json_web_key(key) for key in json.loads(jwks)["keys"]}
        except (KeyError, TypeError) as error:
            raise ValueError("this is no set of keys of Gatehouse") from error

    def verify_signature(self, token: str, *, kind: TokenKind) -> None:
        _verified(token, kind, self._keys.get)


def _verified(token: str, kind: TokenKind, public_key: Callable[[str], PublicKey | None]) -> _Verified:
    if COMPACT_FORM.fullmatch(token) is None:
        raise TokenInvalid
    kid, algorithm = _named_key(token, kind)
    public = public_key(kid)
    if public is None:
        raise SigningKeyUnknown
    # The key decides, never the token: else a key would verify what an algorithm of another kind makes of it.
    if algorithm != algorithm_of(public):
        raise TokenInvalid
    # The header is exactly ours, so there is nothing else to parse: a library would read it once more.
    signed, _, signature = token.rpartition(".")
    if not has_signed(public, signed.encode(), decoded(signature)):
        raise TokenInvalid
    return _Verified(kid, MappingProxyType(_json_object(decoded(signed.partition(".")[2]))))


def _parsed(key: SigningKey, known: _SigningKey | None) -> _SigningKey:
    """Return the private key, parsed; `known` is the one that has signed so far, which is mostly the same."""
    return known if known is not None and known.kid == key.kid else _SigningKey(key.kid, parse_signing(key))


def _published(key: SigningKey) -> _PublishedKey:
    public = parse_public(key.public_pem)
    return _PublishedKey(public, json_web_key(key.kid, public))


def _named_key(token: str, kind: TokenKind) -> tuple[str, str]:
    """Return the key id and the algorithm of the header; raise `TokenInvalid` unless Gatehouse writes such a header."""
    header = _json_object(decoded(token.partition(".")[0]))
    kid, algorithm = header.get("kid"), header.get("alg")
    is_known = isinstance(kid, str) and algorithm in _ALGORITHM_ORDER
    if not is_known or header != {"alg": algorithm, "kid": kid, "typ": kind.value}:
        raise TokenInvalid
    return cast("str", kid), cast("str", algorithm)


def _encoded(part: Mapping[str, Any]) -> bytes:
    """Return an object as a part of the compact form."""
    return _base64url(msgspec.json.encode(part))


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _json_object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokenInvalid from error
    if not isinstance(value, dict):
        raise TokenInvalid
    return cast("dict[str, Any]", value)


def _checked(claims: Mapping[str, Any], issuer: str, now: datetime) -> Mapping[str, Any]:
    has_texts = all(isinstance(claims.get(name), str) and claims[name] for name in _TEXT_CLAIMS)
    # In Python a boolean is an `int`, but not a time.
    has_times = all(type(claims.get(name)) is int for name in _TIME_CLAIMS)
    if not has_texts or not has_times:
        raise TokenInvalid
    # "On or after" this moment the token must not be accepted (RFC 7519, 4.1.4).
    if now.timestamp() >= claims["exp"]:
        raise TokenExpired
    if claims["iss"] != issuer:
        raise IssuedElsewhere(claims)
    return claims
