"""A second reading of compact JSON Web Signatures: RFC 7515 as strictly as it may be read, by cryptography alone."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

KEY_TYPES: Final = {"RS256": "RSA", "PS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
_THUMBPRINT: Final = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}


class _Wrong(Exception):
    """The text is no token."""


def claims_of(token: str, keys: Sequence[Mapping[str, str]]) -> Any:
    """Return the claims of a token that is signed by one of these keys; None for any other text."""
    try:
        header, claims, signature = _parts(token)
    except _Wrong:
        return None
    fitting = [key for key in keys if "kid" not in header or key["kid"] == header["kid"]]
    return claims if any(_has_signed(token, header["alg"], key, signature) for key in fitting) else None


def self_signed(token: str, kind: str) -> Any:
    """Return the thumbprint of the key in a token, and the claims that it has signed; None for any other text."""
    try:
        header, claims, signature = _parts(token)
    except _Wrong:
        return None
    key = header.get("jwk")
    if header.get("typ") != kind or not isinstance(key, dict) or {"d", "p", "q", "k"} & key.keys():
        return None
    if not _has_signed(token, header["alg"], key, signature):
        return None
    members = {name: key[name] for name in _THUMBPRINT[key["kty"]]}
    canonical = json.dumps(members, separators=(",", ":"), sort_keys=True).encode()
    return {"thumbprint": _written(hashlib.sha256(canonical).digest()), "claims": claims}


def _parts(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    parts = token.split(".")
    if len(parts) != 3:
        raise _Wrong
    header, claims = (_object(_bytes(part)) for part in parts[:2])
    if header.get("alg") not in list(KEY_TYPES) or "crit" in header or header.get("b64") is False:
        raise _Wrong
    if not isinstance(header.get("typ", ""), str):
        raise _Wrong
    return header, claims, _bytes(parts[2])


def _bytes(part: str) -> bytes:
    """Return what a part encodes, in the one way in which that may be written."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", part) or len(part) % 4 == 1:
        raise _Wrong
    value = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if _written(value) != part:
        raise _Wrong
    return value


def _written(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = strict_json(text)
    except (ValueError, RecursionError):
        raise _Wrong from None
    if not isinstance(value, dict):
        raise _Wrong
    return value


def strict_json(text: bytes) -> Any:
    """Return JSON as RFC 8259 has it, without a name twice; raise `ValueError`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) != len(dict(pairs)):
            raise ValueError(pairs)
        return dict(pairs)

    def finite(written: str) -> float:
        value = float(written)
        if not math.isfinite(value):
            raise ValueError(written)
        return value

    def none(written: str) -> Any:
        raise ValueError(written)

    value = json.loads(text.decode(), object_pairs_hook=once, parse_float=finite, parse_constant=none)
    # Half of a character is no text.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _has_signed(token: str, algorithm: str, key: Mapping[str, Any], signature: bytes) -> bool:
    signed = token.rpartition(".")[0].encode()
    if (
        key.get("kty") != KEY_TYPES[algorithm]
        or key.get("alg", algorithm) != algorithm
        or key.get("use", "sig") != "sig"
    ):
        return False
    try:
        match algorithm:
            case "EdDSA":
                if key["crv"] != "Ed25519":
                    return False
                ed25519.Ed25519PublicKey.from_public_bytes(_bytes(key["x"])).verify(signature, signed)
            case "ES256":
                if key["crv"] != "P-256" or len(signature) != 64:
                    return False
                point = b"\x04" + _bytes(key["x"]) + _bytes(key["y"])
                public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
                r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
                public.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(hashes.SHA256()))
            case _:
                numbers = rsa.RSAPublicNumbers(int.from_bytes(_bytes(key["e"])), int.from_bytes(_bytes(key["n"])))
                pss = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256().digest_size)
                padded = padding.PKCS1v15() if algorithm == "RS256" else pss
                numbers.public_key().verify(signature, signed, padded, hashes.SHA256())
    except (InvalidSignature, ValueError, TypeError, KeyError, _Wrong):
        return False
    return True
