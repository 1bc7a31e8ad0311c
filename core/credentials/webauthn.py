"""What is said between us, a browser and an authenticator, in our words (WebAuthn Level 3).

How it is encoded, and whether what was signed is right, is the business of the port `WebAuthn`; what follows from it is
in `passkeys.py` and `passkeys_sign_in.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Transport(StrEnum):
    """A way to reach an authenticator, as browsers name it."""

    BLE = "ble"
    HYBRID = "hybrid"
    INTERNAL = "internal"
    NFC = "nfc"
    SMART_CARD = "smart-card"
    USB = "usb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """A credential as a browser is told of it, and how its authenticator may be reached."""

    credential_id: bytes
    transports: Sequence[Transport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """What an authenticator answers when it has made a key pair."""

    credential_id: bytes
    client_data: bytes = field(repr=False)
    attestation_object: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested:
    """What a right attestation says: the public half of the key pair, and what kind of thing keeps the other half."""

    public_key: bytes = field(repr=False)
    sign_count: int
    aaguid: str
    is_backup_eligible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """What an authenticator answers when somebody signs in."""

    credential_id: bytes
    client_data: bytes = field(repr=False)
    authenticator_data: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    user_handle: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    """What a right assertion says: how often the key was used, and whether a PIN, a finger or a face was checked."""

    sign_count: int
    is_user_verified: bool
