"""The numbered steps of a page of setup, for one provider at a time, in the words of that provider's console."""

from __future__ import annotations

from collections.abc import Sequence

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What to do, in one paragraph; then the values to copy from this page, and the fields to fill in on it.

    Values and fields are named; the page has both. A step that stands alone, such as a test, has neither.
    """

    text: str
    copies: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderKind:
    """A kind of provider that a page offers, by the word in the address; `name` is that of the product.

    `instead` is the kind of the same product by another protocol, and `arrives` says what comes here after the steps.
    """

    word: str
    name: str
    steps: tuple[Step, ...]
    instead: str = ""
    arrives: str = ""


def kind_of(kinds: Sequence[ProviderKind], word: str) -> ProviderKind | None:
    """Return the kind of that word; None without one, where a page asks which it is."""
    return next((kind for kind in kinds if kind.word == word), None)
