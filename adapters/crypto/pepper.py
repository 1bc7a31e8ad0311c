"""The pepper: HMAC-SHA256 under a key that is stored, sealed, in the table `server_secrets`."""

from __future__ import annotations

import hmac
from typing import Final, final

PEPPER_BYTES: Final = 32
_LENGTH_BYTES: Final = 4


@final
class HmacPepper:
    """The port `Pepper`; unusable until the key of the installation is loaded."""

    def __init__(self) -> None:
        self._key: bytes | None = None

    def __repr__(self) -> str:
        return "HmacPepper(***)"

    def load(self, key: bytes) -> None:
        """Set the key."""
        assert len(key) == PEPPER_BYTES, f"the key must have {PEPPER_BYTES} bytes"
        self._key = key

    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        """Return the mark of these parts."""
        assert self._key is not None, "the pepper is used before its key is loaded"
        # Each part with its length, so that parts cut at other places make another message.
        message = b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in (purpose.encode(), *parts))
        return hmac.digest(self._key, message, "sha256")
