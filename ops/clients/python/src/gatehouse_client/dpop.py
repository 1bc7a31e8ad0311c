"""Proofs that the caller holds the key to which a token is bound (RFC 9449), for resource servers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import urlsplit

from gatehouse_client.claims import seconds
from gatehouse_client.errors import ProofRefused, TokenRefused
from gatehouse_client.signatures import SignedToken, encoded, key_of, parse, require_signature

PROOF_TYPE: Final = "dpop+jwt"
PROOF_SECONDS_MAX: Final = 60.0
ID_CHARACTERS_MAX: Final = 256
_THUMBPRINT_PARTS: Final = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The header `DPoP` of a request that came with `Authorization: DPoP`, the request's method, and its whole address.

    The address is the one that the client has used: behind a proxy, the public one.
    """

    header: str = field(repr=False)
    method: str
    url: str


@dataclass(frozen=True, slots=True)
class ProofId:
    """The id of a proof that fits, which may be used once until then."""

    text: str
    until: float


def check(proof: Proof, token: str, thumbprint: str, *, at: float, leeway_seconds: float) -> ProofId:
    """Return the id of a proof for this request, token and key; raise `ProofRefused` for any other."""
    try:
        parsed = parse(proof.header)
        if parsed.header.get("typ") != PROOF_TYPE:
            raise ProofRefused("the proof is another kind of token")
        if _signer(parsed) != thumbprint:
            raise ProofRefused("the proof is by another key than that of the token")
        return _checked(parsed.claims, proof, token, thumbprint, at=at, leeway_seconds=leeway_seconds)
    except ProofRefused:
        raise
    except TokenRefused as problem:
        raise ProofRefused(f"the proof is not valid: {problem.reason}") from problem


def _signer(parsed: SignedToken) -> str:
    """Return the thumbprint of the key that has signed the proof (RFC 7638)."""
    jwk = parsed.header.get("jwk")
    if not isinstance(jwk, dict):
        raise ProofRefused("the proof names no key")
    jwk = cast("Mapping[str, Any]", jwk)
    key = None if {"d", "k", "p"} & set(jwk) else key_of(jwk)
    if key is None:
        raise ProofRefused("the key of the proof is no public key that signs")
    require_signature(parsed, key)
    parts = {name: jwk[name] for name in _THUMBPRINT_PARTS[jwk["kty"]]}
    return encoded(hashlib.sha256(json.dumps(parts, separators=(",", ":"), sort_keys=True).encode()).digest())


def _checked(
    claims: Mapping[str, Any], proof: Proof, token: str, thumbprint: str, *, at: float, leeway_seconds: float
) -> ProofId:
    if claims.get("htm") != proof.method:
        raise ProofRefused("the proof is for another method")
    if _address(claims.get("htu")) != _address(proof.url):
        raise ProofRefused("the proof is for another address")
    if claims.get("ath") != encoded(hashlib.sha256(token.encode()).digest()):
        raise ProofRefused("the proof is for another token")
    issued_at = seconds(claims, "iat")
    if not at - PROOF_SECONDS_MAX - leeway_seconds <= issued_at <= at + leeway_seconds:
        raise ProofRefused("the proof is too old, or from the future")
    identifier = claims.get("jti")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= ID_CHARACTERS_MAX:
        raise ProofRefused("the proof has no id")
    return ProofId(f"{thumbprint} {identifier}", issued_at + PROOF_SECONDS_MAX + 2 * leeway_seconds)


def _address(value: object) -> tuple[str, str, int | None, str]:
    """Return what of an address counts: neither query nor fragment, nor how the host is written (RFC 9449, 4.3)."""
    if not isinstance(value, str):
        raise ProofRefused("the proof names no address")
    try:
        parts = urlsplit(value)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError as problem:
        raise ProofRefused("the proof names no address") from problem
    return parts.scheme, parts.hostname or "", port, parts.path or "/"
