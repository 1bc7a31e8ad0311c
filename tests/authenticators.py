"""A software authenticator, which behaves correctly unless a test makes it misbehave.

It responds to options like a browser with a built-in authenticator, in the format of `credential.toJSON()`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from tests.kept_keys import rsa_key

ORIGIN = "http://localhost:8000"
AAGUID = bytes.fromhex("ea9b8d664d011d213ce4b6b48cb575d4")

USER_PRESENT = 0x01
USER_VERIFIED = 0x04
BACKUP_ELIGIBLE = 0x08
ATTESTED_DATA = 0x40

PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def encoded(data: bytes) -> str:
    """Return bytes as base64url without padding, as browsers encode them."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Return the bytes that `encoded` encoded."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def make_key(algorithm: int) -> PrivateKey:
    """Return a key for a COSE algorithm, a new one unless it is an RSA key."""
    match algorithm:
        case -8:
            return ed25519.Ed25519PrivateKey.generate()
        case -257:
            return rsa_key("authenticator")
        case _:
            return ec.generate_private_key(ec.SECP256R1())


def cose_key(key: PrivateKey) -> dict[int, Any]:
    """Return the public key as a COSE key (RFC 9052)."""
    match key:
        case ed25519.Ed25519PrivateKey():
            return {1: 1, 3: -8, -1: 6, -2: key.public_key().public_bytes_raw()}
        case rsa.RSAPrivateKey():
            numbers = key.public_key().public_numbers()
            return {1: 3, 3: -257, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")}
        case _:
            point = key.public_key().public_numbers()
            return {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}


@dataclass
class Authenticator:
    """Holds one passkey; a test can change what it reports at any time."""

    key: PrivateKey = field(default_factory=lambda: make_key(-7))
    credential_id: bytes = field(default_factory=lambda: os.urandom(20))
    origin: str = ORIGIN
    rp_id: str = "localhost"
    aaguid: bytes = AAGUID
    is_user_present: bool = True
    is_user_verified: bool = True
    is_backup_eligible: bool = False
    is_backed_up: bool = False
    counts: bool = True
    sign_count: int = 0
    user_handle: bytes | None = None
    cross_origin: bool | None = False
    transports: list[str] = field(default_factory=lambda: ["internal"])
    statement: dict[str, Any] = field(default_factory=lambda: {"fmt": "none", "attStmt": {}})

    def create(self, options: dict[str, Any], *, challenge: str | None = None) -> dict[str, Any]:
        """Return the result of `navigator.credentials.create()`."""
        self.user_handle = decoded(options["user"]["id"])
        attested = self.aaguid + len(self.credential_id).to_bytes(2, "big") + self.credential_id
        attested += cbor2.dumps(cose_key(self.key))
        attestation_object = self.statement | {"authData": self._authenticator_data(ATTESTED_DATA) + attested}
        return {
            "id": encoded(self.credential_id),
            "rawId": encoded(self.credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {"credProps": {"rk": True}},
            "response": {
                "clientDataJSON": encoded(self._client_data("webauthn.create", challenge or options["challenge"])),
                "attestationObject": encoded(cbor2.dumps(attestation_object)),
                "transports": self.transports,
            },
        }

    def get(self, options: dict[str, Any], *, challenge: str | None = None) -> dict[str, Any]:
        """Return the result of `navigator.credentials.get()`."""
        client_data = self._client_data("webauthn.get", challenge or options["challenge"])
        data = self._authenticator_data()
        return {
            "id": encoded(self.credential_id),
            "rawId": encoded(self.credential_id),
            "type": "public-key",
            "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encoded(client_data),
                "authenticatorData": encoded(data),
                "signature": encoded(self._sign(data + hashlib.sha256(client_data).digest())),
                "userHandle": encoded(self.user_handle) if self.user_handle is not None else None,
            },
        }

    def _client_data(self, kind: str, challenge: str) -> bytes:
        client_data: dict[str, Any] = {"type": kind, "challenge": challenge, "origin": self.origin}
        if self.cross_origin is not None:
            client_data["crossOrigin"] = self.cross_origin
        return json.dumps(client_data).encode()

    def _authenticator_data(self, flags: int = 0) -> bytes:
        self.sign_count += 1 if self.counts else 0
        flags |= USER_PRESENT * self.is_user_present | USER_VERIFIED * self.is_user_verified
        flags |= BACKUP_ELIGIBLE * self.is_backup_eligible | 0x10 * self.is_backed_up
        rp_id_hash = hashlib.sha256(self.rp_id.encode()).digest()
        return rp_id_hash + bytes([flags]) + self.sign_count.to_bytes(4, "big")

    def _sign(self, data: bytes) -> bytes:
        match self.key:
            case ed25519.Ed25519PrivateKey():
                return self.key.sign(data)
            case rsa.RSAPrivateKey():
                return self.key.sign(data, padding.PKCS1v15(), SHA256())
            case _:
                return self.key.sign(data, ec.ECDSA(SHA256()))
