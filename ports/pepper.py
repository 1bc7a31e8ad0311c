"""Keyed hashes: marks that only this installation can make, and nobody can test guesses against."""

from typing import Protocol


class Pepper(Protocol):
    """A secret key of the installation; the same in every replica, and never shown."""

    def mark(self, purpose: str, /, *parts: bytes) -> bytes:
        """Make the 32-byte mark of these parts; another purpose, or another cut between the parts, is another mark."""
        ...
