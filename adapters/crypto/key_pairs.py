"""The key pairs that sign tokens, RSA and elliptic ones: generation, key ids, parsing and the public form (JWK)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from adapters.crypto.compact_form import decoded
from core.secrets import Secret
from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.signing_keys import KeyPair, SigningKey

# The least that RFC 7518 (3.3) allows for RS256; with twice the bits a signature would cost six times as much.
KEY_BITS = 2048
_PUBLIC_EXPONENT = 65537
# The curve of ES256 (RFC 7518, 3.4), with the size of a coordinate.
_CURVE = ec.SECP256R1()
_CURVE_NAME = "P-256"
_COORDINATE_BYTES = 32
_RSA_PADDING = padding.PKCS1v15()
_SHA256 = SHA256()
_ECDSA = ec.ECDSA(_SHA256)

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def make_key_pair(algorithm: SignatureAlgorithm = SignatureAlgorithm.RS256) -> KeyPair:
    """Generate a key pair, in some tenths of a second: call it neither on the event loop nor in a transaction."""
    if algorithm is SignatureAlgorithm.ES256:
        return key_pair_of(ec.generate_private_key(_CURVE))
    return key_pair_of(rsa.generate_private_key(public_exponent=_PUBLIC_EXPONENT, key_size=KEY_BITS))


def key_pair_of(private: PrivateKey) -> KeyPair:
    """Return a private key with its public half, its id and its algorithm."""
    public = private.public_key()
    # Unencrypted in memory only: the vault encrypts it before it is stored.
    private_pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyPair(
        kid=thumbprint(public),
        public_pem=public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
        private_pem=Secret(private_pem.decode()),
        algorithm=algorithm_of(public),
    )


def parse_private(pem: Secret) -> rsa.RSAPrivateKey:
    """Parse a private RSA key that `make_key_pair` has made."""
    # Its primes are not tested again, which takes tens of milliseconds: the vault has kept it as it was made.
    key = load_pem_private_key(pem.reveal().encode(), password=None, unsafe_skip_rsa_key_validation=True)
    assert isinstance(key, rsa.RSAPrivateKey), "the stored key is not an RSA key"
    return key


def parse_signing(key: SigningKey) -> PrivateKey:
    """Parse the private half of a stored key."""
    if key.algorithm is SignatureAlgorithm.RS256:
        return parse_private(key.private_pem)
    private = load_pem_private_key(key.private_pem.reveal().encode(), password=None)
    assert isinstance(private, ec.EllipticCurvePrivateKey), "the stored key is not an elliptic key"
    return private


def parse_public(pem: str) -> PublicKey:
    """Parse a public key."""
    key = load_pem_public_key(pem.encode())
    assert isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey), "the stored key is neither RSA nor elliptic"
    return key


def algorithm_of(public: PublicKey) -> SignatureAlgorithm:
    """Return the only algorithm with which a key of ours signs."""
    return SignatureAlgorithm.RS256 if isinstance(public, rsa.RSAPublicKey) else SignatureAlgorithm.ES256


def signature_of(private: PrivateKey, text: bytes) -> bytes:
    """Return the signature of a text by this key, with its algorithm (RFC 7518, 3.3 and 3.4)."""
    if isinstance(private, rsa.RSAPrivateKey):
        return private.sign(text, _RSA_PADDING, _SHA256)
    halves = decode_dss_signature(private.sign(text, _ECDSA))
    return b"".join(half.to_bytes(_COORDINATE_BYTES, "big") for half in halves)


def has_signed(public: PublicKey, text: bytes, signature: bytes) -> bool:
    """Return whether this is the signature of a text by this key, with its algorithm (RFC 7518, 3.3 and 3.4)."""
    try:
        if isinstance(public, rsa.RSAPublicKey):
            public.verify(signature, text, _RSA_PADDING, _SHA256)
        elif len(signature) == 2 * _COORDINATE_BYTES:
            halves = (signature[:_COORDINATE_BYTES], signature[_COORDINATE_BYTES:])
            public.verify(encode_dss_signature(*map(int.from_bytes, halves)), text, _ECDSA)
        else:
            return False
    except InvalidSignature:
        return False
    return True


def thumbprint(public: PublicKey) -> str:
    """Return the thumbprint of a key (RFC 7638), which is the same on every replica."""
    canonical = json.dumps(_required_members(public), separators=(",", ":"), sort_keys=True)
    return _base64url(hashlib.sha256(canonical.encode()).digest())


def json_web_key(kid: str, public: PublicKey) -> dict[str, str]:
    """Return a public key as a JSON Web Key (RFC 7517), the form that relying parties read."""
    return {**_required_members(public), "use": "sig", "alg": algorithm_of(public).value, "kid": kid}


def parse_json_web_key(key: Mapping[str, Any]) -> PublicKey:
    """Return the public key that a JSON Web Key describes; raise `KeyError`, `TypeError` or `ValueError` for others."""
    if key["kty"] == "EC" and key["crv"] == _CURVE_NAME:
        return ec.EllipticCurvePublicNumbers(_number(key["x"]), _number(key["y"]), _CURVE).public_key()
    if key["kty"] != "RSA":
        raise ValueError("the key is neither an RSA key nor one of the curve P-256")
    return rsa.RSAPublicNumbers(_number(key["e"]), _number(key["n"])).public_key()


def _required_members(public: PublicKey) -> dict[str, str]:
    """Return the members that describe a public key, which make up its thumbprint too (RFC 7638, 3.2)."""
    if isinstance(public, rsa.RSAPublicKey):
        numbers = public.public_numbers()
        return {"kty": "RSA", "n": _base64url(_big_endian(numbers.n)), "e": _base64url(_big_endian(numbers.e))}
    x, y = (
        coordinate.to_bytes(_COORDINATE_BYTES, "big")
        for coordinate in (public.public_numbers().x, public.public_numbers().y)
    )
    return {"kty": "EC", "crv": _CURVE_NAME, "x": _base64url(x), "y": _base64url(y)}


def _number(text: str) -> int:
    return int.from_bytes(decoded(text))


def _big_endian(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
