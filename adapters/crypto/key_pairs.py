"""The RSA pairs that sign our tokens: how they are made, named, read and shown to the world."""

from __future__ import annotations

import base64
import hashlib
import json

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

# The least that RFC 7518 (3.3) allows for RS256; twice the bits would make every signature six times as dear.
KEY_BITS = 2048
_PUBLIC_EXPONENT = 65537


def make_key_pair() -> KeyPair:
    """Make a pair; it takes some tenths of a second of computing, so not on the event loop or in a transaction."""
    private = rsa.generate_private_key(public_exponent=_PUBLIC_EXPONENT, key_size=KEY_BITS)
    public = private.public_key()
    # Plain in memory only: the vault encrypts it on its way into the database.
    private_pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(
        kid=thumbprint(public),
        public_pem=public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        private_pem=Secret(private_pem.decode()),
    )


def parse_private(pem: Secret) -> rsa.RSAPrivateKey:
    """Read a private key, which checks it and takes some milliseconds."""
    key = load_pem_private_key(pem.reveal().encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey), "only RSA keys are stored"
    return key


def parse_public(pem: str) -> rsa.RSAPublicKey:
    """Read a public key."""
    key = load_pem_public_key(pem.encode())
    assert isinstance(key, rsa.RSAPublicKey), "only RSA keys are stored"
    return key


def thumbprint(public: rsa.RSAPublicKey) -> str:
    """Name a key after what it is (RFC 7638), so that every replica calls it the same."""
    canonical = json.dumps(_required_members(public), separators=(",", ":"), sort_keys=True)
    return _base64url(hashlib.sha256(canonical.encode()).digest())


def json_web_key(kid: str, public: rsa.RSAPublicKey) -> dict[str, str]:
    """Show a public key as relying parties read it (RFC 7517)."""
    return {**_required_members(public), "use": "sig", "alg": "RS256", "kid": kid}


def _required_members(public: rsa.RSAPublicKey) -> dict[str, str]:
    numbers = public.public_numbers()
    return {"kty": "RSA", "n": _base64url(_big_endian(numbers.n)), "e": _base64url(_big_endian(numbers.e))}


def _big_endian(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
