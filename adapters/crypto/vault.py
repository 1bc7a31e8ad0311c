"""The vault: secrets that must be read again are encrypted here, each bound to the one place where it belongs.

A sealed value is a version byte, the id of the master key, a nonce and what AES-256-GCM made of the secret (decisions
2.7). There is no way around it: no key, no start, and nothing falls back to plain text. Which columns are sealed, and
how they come under a new key, is in `adapters/postgres/schema/rewrap.py`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.secrets import Secret

KEY_BYTES = 32
_VERSION = b"\x01"
_KEY_ID_BYTES = 8
_MARK_BYTES = len(_VERSION) + _KEY_ID_BYTES
# Random nonces of this size are good for 2^32 values under one key (NIST SP 800-38D, 8.3): ten a second for 13 years.
_NONCE_BYTES = 12
_TAG_BYTES = 16
_SEALED_BYTES_MIN = _MARK_BYTES + _NONCE_BYTES + _TAG_BYTES
_LENGTH_BYTES = 4


class MasterKeysInvalid(Exception):
    """The list of master keys cannot be meant; the message says which entry and why, and never what it is."""


class SealBroken(Exception):
    """A sealed value cannot be opened: its key is not ours, or it was altered, cut or moved from another place."""


@final
@dataclass(frozen=True, slots=True)
class MasterKey:
    """A key that encrypts secrets at rest."""

    value: bytes = field(repr=False)

    def __post_init__(self) -> None:
        # The cipher would take shorter keys as well, and be a weaker one.
        if len(self.value) != KEY_BYTES:
            raise ValueError(f"A master key has {KEY_BYTES} bytes.")

    @classmethod
    def generate(cls) -> MasterKey:
        """Make a new key."""
        return cls(os.urandom(KEY_BYTES))

    @property
    def id(self) -> bytes:
        """Name the key without telling it; the same key has the same name on every machine."""
        return hashlib.sha256(b"gatehouse master key\x00" + self.value).digest()[:_KEY_ID_BYTES]

    def encoded(self) -> str:
        """Write the key as the setting takes it. This is the secret itself."""
        return base64.b64encode(self.value).decode()


def parse_master_keys(setting: Secret) -> tuple[MasterKey, ...]:
    """Read GATEHOUSE_MASTER_KEYS: keys in base64 or base64url, comma-separated; raise `MasterKeysInvalid`."""
    keys: list[MasterKey] = []
    for position, text in enumerate(setting.reveal().split(","), start=1):
        key = _parse_master_key(text.strip(), position)
        if key in keys:
            raise MasterKeysInvalid(f"Master key {position} is the same as master key {keys.index(key) + 1}.")
        keys.append(key)
    return tuple(keys)


@final
class Vault:
    """Seals with the first of its keys, opens with any of them; safe to share between threads."""

    def __init__(self, keys: Sequence[MasterKey]) -> None:
        if not keys:
            raise MasterKeysInvalid("There is no master key.")
        self._ciphers = {_VERSION + key.id: AESGCM(key.value) for key in keys}
        self._current_mark = _VERSION + keys[0].id

    def __repr__(self) -> str:
        return f"Vault({', '.join(mark[len(_VERSION) :].hex() for mark in self._ciphers)})"

    @property
    def current_mark(self) -> bytes:
        """What everything sealed with the first key begins with, and nothing else does."""
        return self._current_mark

    def seal(self, plaintext: bytes, *, table: str, column: str, row: UUID | str) -> bytes:
        """Encrypt a secret for one column of one row."""
        nonce = os.urandom(_NONCE_BYTES)
        mark = self._current_mark
        return mark + nonce + self._ciphers[mark].encrypt(nonce, plaintext, mark + _place(table, column, row))

    def open(self, sealed: bytes, *, table: str, column: str, row: UUID | str) -> bytes:
        """Give the secret back if it was sealed for this very place; raise `SealBroken`."""
        mark, nonce = sealed[:_MARK_BYTES], sealed[_MARK_BYTES : _MARK_BYTES + _NONCE_BYTES]
        where = f"{table}.{column} of {row}"
        if len(sealed) < _SEALED_BYTES_MIN:
            raise SealBroken(f"{where} is too short to be a sealed value.")
        cipher = self._ciphers.get(mark)
        if cipher is None:
            raise SealBroken(
                f"{where} was sealed with key {mark[len(_VERSION) :].hex()} in format {mark[0]}; "
                "GATEHOUSE_MASTER_KEYS has no such key."
            )
        try:
            return cipher.decrypt(nonce, sealed[_MARK_BYTES + _NONCE_BYTES :], mark + _place(table, column, row))
        except InvalidTag:
            raise SealBroken(f"{where} was altered, or sealed for another place.") from None

    def needs_rewrap(self, sealed: bytes) -> bool:
        """Say whether the value was sealed with another key than the first."""
        return not sealed.startswith(self._current_mark)


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
    """Write the place so that no two places read the same, whatever is in the names."""
    names = (table.encode(), column.encode(), str(row).encode())
    return b"".join(len(name).to_bytes(_LENGTH_BYTES, "big") + name for name in names)
