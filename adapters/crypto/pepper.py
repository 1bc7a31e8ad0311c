"""The pepper: HMAC-SHA256 under a key that is kept, sealed, in the table `server_secrets`."""

from __future__ import annotations

import hmac
from typing import Final, final

PEPPER_BYTES: Final = 32
_LENGTH_BYTES: Final = 4


@final
class HmacPepper:
    """The port `Pepper`; empty until the installation's key is known."""

    def __init__(self) -> None:
        self._key: bytes | None = None

    def __repr__(self) -> str:
        return "HmacPepper(***)"

    def load(self, key: bytes) -> None:
        """Know the key."""
        assert len(key) == PEPPER_BYTES, "a pepper has 256 bits"
        self._key = key

    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        """Make the mark of these parts."""
        assert self._key is not None, "the pepper is loaded before anything is served"
        # Each part with its length, so that moving a cut makes another message.
        message = b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in (purpose.encode(), *parts))
        return hmac.digest(self._key, message, "sha256")
