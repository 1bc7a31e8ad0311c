"""Keyed hashes that only this installation can compute, so that guesses cannot be tested against them elsewhere."""

from typing import Protocol


class Pepper(Protocol):
    """A secret key of the installation; the same in every replica, and never shown."""

    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        """Return the 32-byte keyed hash of these parts.

        A different purpose, or a different division of the same bytes into parts, gives a different hash.
        """
        ...
