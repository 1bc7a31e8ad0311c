"""The vocabulary of WebAuthn (Level 3): what Gatehouse, a browser and an authenticator exchange.

The port `WebAuthn` encodes it and checks signatures; `passkeys.py` and `core/sign_in/passkeys.py` act on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum

from core.lazy_dataclasses import dataclass


class Transport(StrEnum):
    """A transport by which an authenticator is reached, as browsers name it."""

    BLE = "ble"
    HYBRID = "hybrid"
    INTERNAL = "internal"
    NFC = "nfc"
    SMART_CARD = "smart-card"
    USB = "usb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """A credential id and the transports of its authenticator, as sent to a browser."""

    credential_id: bytes
    transports: Sequence[Transport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """An authenticator's answer after it has made a key pair."""

    credential_id: bytes
    client_data: bytes = field(repr=False)
    attestation_object: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAttestation:
    """The content of a valid attestation: the public key, and the kind of authenticator that holds the private key."""

    public_key: bytes = field(repr=False)
    sign_count: int
    aaguid: str
    is_backup_eligible: bool
    is_user_verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyAssertion:
    """An authenticator's answer at a sign-in."""

    credential_id: bytes
    client_data: bytes = field(repr=False)
    authenticator_data: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    user_handle: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAssertion:
    """The content of a valid assertion: the sign count, and whether a PIN, a finger or a face was checked."""

    sign_count: int
    is_user_verified: bool
