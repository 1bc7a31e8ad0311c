"""The vault encrypts secrets that must be read again, each bound to its column and row.

A sealed value is a version byte, the id of the master key, a nonce and the AES-256-GCM ciphertext.
Without a master key Gatehouse does not start; nothing falls back to plain text. `adapters/postgres/schema/rewrap.py`
lists the sealed columns and re-encrypts them with a new key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Sequence
from dataclasses import field
from typing import final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from core.lazy_dataclasses import dataclass
from core.secrets import Secret

KEY_BYTES = 32
_VERSION = b"\x01"
_KEY_ID_BYTES = 8
MARK_BYTES = len(_VERSION) + _KEY_ID_BYTES
# Random nonces of this size are safe for 2^32 values under one key (NIST SP 800-38D, 8.3): ten a second for 13 years.
_NONCE_BYTES = 12
_TAG_BYTES = 16
SEALED_BYTES_MIN = MARK_BYTES + _NONCE_BYTES + _TAG_BYTES
_LENGTH_BYTES = 4


class MasterKeysInvalid(Exception):
    """The list of master keys is invalid; the message names the entry and the reason, never the key."""


class SealBroken(Exception):
    """A sealed value cannot be decrypted: its key is unknown, or it was altered, cut or moved from another place."""


@final
@dataclass(frozen=True, slots=True)
class MasterKey:
    """A key that encrypts secrets at rest."""

    value: bytes = field(repr=False)

    def __post_init__(self) -> None:
        # The cipher would accept shorter keys, and be weaker.
        if len(self.value) != KEY_BYTES:
            raise ValueError(f"A master key has {KEY_BYTES} bytes.")

    @classmethod
    def generate(cls) -> MasterKey:
        """Return a new random key."""
        return cls(os.urandom(KEY_BYTES))

    @property
    def id(self) -> bytes:
        """An id that does not reveal the key; the same key has the same id on every machine."""
        return hashlib.sha256(b"gatehouse master key\x00" + self.value).digest()[:_KEY_ID_BYTES]

    def encoded(self) -> str:
        """Return the key in the form of the setting. This is the secret itself."""
        return base64.b64encode(self.value).decode()


def parse_master_keys(setting: Secret) -> tuple[MasterKey, ...]:
    """Parse GATEHOUSE_MASTER_KEYS: keys in base64 or base64url, separated by commas; raise `MasterKeysInvalid`."""
    keys: list[MasterKey] = []
    for position, text in enumerate(setting.reveal().split(","), start=1):
        key = _parse_master_key(text.strip(), position)
        if key in keys:
            raise MasterKeysInvalid(f"Master key {position} is the same as master key {keys.index(key) + 1}.")
        keys.append(key)
    return tuple(keys)


@final
class Vault:
    """Encrypts with the first of its keys, decrypts with any of them; safe to share between threads."""

    def __init__(self, keys: Sequence[MasterKey]) -> None:
        if not keys:
            raise MasterKeysInvalid("There is no master key.")
        self._ciphers = {_VERSION + key.id: AESGCM(key.value) for key in keys}
        self._current_mark = _VERSION + keys[0].id

    def __repr__(self) -> str:
        return f"Vault({', '.join(mark[len(_VERSION) :].hex() for mark in self._ciphers)})"

    @property
    def current_mark(self) -> bytes:
        """The prefix of every value that was sealed with the first key, and of no other."""
        return self._current_mark

    @property
    def marks(self) -> tuple[bytes, ...]:
        """The prefixes of the values that it can open."""
        return tuple(self._ciphers)

    @property
    def key_ids(self) -> frozenset[str]:
        """The ids of its keys, which reveal nothing of them."""
        return frozenset(mark[len(_VERSION) :].hex() for mark in self._ciphers)

    @property
    def current_id(self) -> str:
        """The id of the first key, which reveals nothing of it."""
        return self._current_mark[len(_VERSION) :].hex()

    def seal(self, plaintext: bytes, *, table: str, column: str, row: UUID | str) -> bytes:
        """Encrypt a secret for one column of one row."""
        nonce = os.urandom(_NONCE_BYTES)
        mark = self._current_mark
        return mark + nonce + self._ciphers[mark].encrypt(nonce, plaintext, mark + _place(table, column, row))

    def open(self, sealed: bytes, *, table: str, column: str, row: UUID | str) -> bytes:
        """Return the secret that was sealed for this place; raise `SealBroken`."""
        mark, nonce = sealed[:MARK_BYTES], sealed[MARK_BYTES : MARK_BYTES + _NONCE_BYTES]
        where = f"{table}.{column} of {row}"
        if len(sealed) < SEALED_BYTES_MIN:
            raise SealBroken(f"{where} is too short to be a sealed value.")
        cipher = self._ciphers.get(mark)
        if cipher is None:
            raise SealBroken(
                f"{where} was sealed with key {mark[len(_VERSION) :].hex()} in format {mark[0]}; "
                "GATEHOUSE_MASTER_KEYS has no such key."
            )
        try:
            return cipher.decrypt(nonce, sealed[MARK_BYTES + _NONCE_BYTES :], mark + _place(table, column, row))
        except InvalidTag:
            raise SealBroken(f"{where} was altered, or sealed for another place.") from None

    def needs_rewrap(self, sealed: bytes) -> bool:
        """Return whether the value was sealed with another key than the first."""
        return not sealed.startswith(self._current_mark)


def key_id_of(mark: bytes) -> str:
    """Return the id of the key that a value with this mark, its first `MARK_BYTES`, was sealed with."""
    return mark[len(_VERSION) :].hex()


def _parse_master_key(text: str, position: int) -> MasterKey:
    # Both alphabets, padded or not: `openssl rand -base64 32` and Python's `secrets` differ in both.
    standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        value = base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise MasterKeysInvalid(f"Master key {position} is not base64.") from None
    if len(value) != KEY_BYTES:
        raise MasterKeysInvalid(f"Master key {position} has {len(value)} bytes; it takes {KEY_BYTES}, in base64.")
    return MasterKey(value)


def _place(table: str, column: str, row: UUID | str) -> bytes:
    """Encode the place so that no two places have the same encoding, whatever the names contain."""
    names = (table.encode(), column.encode(), str(row).encode())
    return b"".join(len(name).to_bytes(_LENGTH_BYTES, "big") + name for name in names)
