"""Values that must not be printed, and the one-way marks that we store instead of them.

Where secrets come from (the system's generator) is the port `Randomness`; how those that must be read again are
encrypted is the vault's affair.
"""

import hashlib
from typing import final


@final
class Secret:
    """A text that shows as `***` wherever it is printed, logged or formatted; `reveal` is the only way to the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Give the value to whoever really has to have it: a hash, a cipher, the answer that shows it once."""
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
        raise TypeError("A secret is not written anywhere, and a pickle is a place.")


def hash_token(token: str) -> bytes:
    """Give the mark that is stored for a token: its SHA-256, enough for 122 random bits and more."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
