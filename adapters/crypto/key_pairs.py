"""The RSA key pairs that sign tokens: generation, key ids, parsing and the public form (JWK)."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from core.secrets import Secret
from core.sessions.signing_keys import KeyPair

if TYPE_CHECKING:
    from collections.abc import Mapping

# The least that RFC 7518 (3.3) allows for RS256; with twice the bits a signature would cost six times as much.
KEY_BITS = 2048
_PUBLIC_EXPONENT = 65537


def make_key_pair() -> KeyPair:
    """Generate a key pair, in some tenths of a second: call it neither on the event loop nor in a transaction."""
    private = rsa.generate_private_key(public_exponent=_PUBLIC_EXPONENT, key_size=KEY_BITS)
    public = private.public_key()
    # Unencrypted in memory only: the vault encrypts it before it is stored.
    private_pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(
        kid=thumbprint(public),
        public_pem=public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        private_pem=Secret(private_pem.decode()),
    )


def parse_private(pem: Secret) -> rsa.RSAPrivateKey:
    """Parse and check a private key, which takes some milliseconds."""
    key = load_pem_private_key(pem.reveal().encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey), "the stored key is not an RSA key"
    return key


def parse_public(pem: str) -> rsa.RSAPublicKey:
    """Parse a public key."""
    key = load_pem_public_key(pem.encode())
    assert isinstance(key, rsa.RSAPublicKey), "the stored key is not an RSA key"
    return key


def thumbprint(public: rsa.RSAPublicKey) -> str:
    """Return the thumbprint of a key (RFC 7638), which is the same on every replica."""
    canonical = json.dumps(_required_members(public), separators=(",", ":"), sort_keys=True)
    return _base64url(hashlib.sha256(canonical.encode()).digest())


def json_web_key(kid: str, public: rsa.RSAPublicKey) -> dict[str, str]:
    """Return a public key as a JSON Web Key (RFC 7517), the form that relying parties read."""
    return {**_required_members(public), "use": "sig", "alg": "RS256", "kid": kid}


def parse_json_web_key(key: Mapping[str, Any]) -> rsa.RSAPublicKey:
    """Return the public key that a JSON Web Key describes; raise `KeyError`, `TypeError` or `ValueError` for others."""
    if key["kty"] != "RSA":
        raise ValueError("the key is not an RSA key")
    exponent, modulus = (
        int.from_bytes(base64.urlsafe_b64decode(key[name] + "=" * (-len(key[name]) % 4))) for name in ("e", "n")
    )
    return rsa.RSAPublicNumbers(exponent, modulus).public_key()


def _required_members(public: rsa.RSAPublicKey) -> dict[str, str]:
    numbers = public.public_numbers()
    return {"kty": "RSA", "n": _base64url(_big_endian(numbers.n)), "e": _base64url(_big_endian(numbers.e))}


def _big_endian(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
