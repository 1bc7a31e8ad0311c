"""Values that must not be printed, and the hashes that are stored instead of them.

The port `Randomness` generates secrets; the vault encrypts those that must be read again.
"""

import hashlib
from typing import final


@final
class Secret:
    """A text that appears as `***` wherever it is printed, logged or formatted; only `reveal` returns the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value, for code that needs it: a hash, a cipher, the response that shows it once."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> "tuple[object, ...]":
        raise TypeError("A secret cannot be pickled.")


def hash_token(token: str) -> bytes:
    """Return the hash that is stored for a token: its SHA-256, which is sufficient from 122 random bits on."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
