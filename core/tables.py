"""Tables that lack members of the enumeration by which they are keyed, on purpose.

Every other table that is keyed by an enumeration has all of its members (`tests/sources/test_tables.py`), so that what
is found there by `[]` is always there. A table of this kind has no `[]`: a lookup says what holds for members that it
lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, overload

Key = TypeVar("Key")
Value = TypeVar("Value")
Default = TypeVar("Default")


class PartialTable(Generic[Key, Value]):
    """A table that says something about some members only. It is not changed after it was made."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[Key, Value], /) -> None:
        self._entries = dict(entries)

    @overload
    def get(self, key: Key, /) -> Value | None: ...

    @overload
    def get(self, key: Key, default: Default, /) -> Value | Default: ...

    def get(self, key: Key, default: Default | None = None, /) -> Value | Default | None:
        """Return what the table says about a member; the default, or None, for one that it lacks."""
        return self._entries.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> list[tuple[Key, Value]]:
        """Return the members that the table has, with what it says about them."""
        return list(self._entries.items())

    def values(self) -> list[Value]:
        """Return what the table says, in its order."""
        return list(self._entries.values())
