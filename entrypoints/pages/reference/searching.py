"""The search of the reference: operations, error codes and event types, by words that begin words of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Final, Generic, TypeVar

import msgspec

from core.errors import ErrorCode
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from entrypoints.web.describing.areas import Line, addresses_of, line_of
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.routes import Route

Thing = TypeVar("Thing")

# How many operations are shown.
OPERATIONS_MAX: Final = 40
# Of what is typed.
_WORDS_MAX: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")


class ReferenceQuery(Query, kw_only=True):
    """What to find in the reference."""

    q: Annotated[
        str, msgspec.Meta(description="Words of an operation, an error code or an event type.", max_length=254)
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInReference:
    """What a search has found; `has_more` says that there are more operations."""

    operations: Sequence[Line]
    has_more: bool
    codes: Sequence[ErrorCode]
    event_types: Sequence[EventType]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.operations or self.codes or self.event_types)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry(Generic[Thing]):
    """What can be found, by texts of more and more words: an earlier one puts it before others."""

    thing: Thing
    texts: Sequence[str]


def found_in(routes: tuple[Route, ...], text: str) -> FoundInReference:
    """Return entries with words that begin with the words of a text: matching names first, then descriptions."""
    wanted = _wanted(text)
    operations = _found(_operations(routes), wanted)
    return FoundInReference(
        operations=operations[:OPERATIONS_MAX],
        has_more=len(operations) > OPERATIONS_MAX,
        codes=_found(_codes(), wanted),
        event_types=_found(_event_types(), wanted),
    )


def operations_called(routes: tuple[Route, ...], text: str) -> Sequence[Line]:
    """Return the operations that `found_in` finds by their paths and titles, and not by what is said of them."""
    return _found(_operations(routes), _wanted(text), widest=1)


def _wanted(text: str) -> Sequence[str]:
    # A text is searched for the beginnings of words all at once: comparing word by word takes thirty times as long.
    return [f" {word}" for word in _WORD.findall(text.casefold())[:_WORDS_MAX]]


def _found(entries: Iterable[_Entry[Thing]], wanted: Sequence[str], *, widest: int = -1) -> list[Thing]:
    ranked: list[tuple[int, Thing]] = []
    for entry in entries:
        if wanted and all(word in entry.texts[widest] for word in wanted):
            rank = next(rank for rank, text in enumerate(entry.texts) if all(word in text for word in wanted))
            ranked.append((rank, entry.thing))
    return [thing for _, thing in sorted(ranked, key=lambda one: one[0])]


@cache
def _operations(routes: tuple[Route, ...]) -> Sequence[_Entry[Line]]:
    addresses, entries = addresses_of(routes), list[_Entry[Line]]()
    for route in routes:
        if not route.is_page:
            line = line_of(route, addresses[route.operation_id])
            path = f"{route.method} {route.path}"
            about = f"{route.capability} {route.operation_id} {route.documentation}"
            texts = (_words(path), _words(path, line.title), _words(path, line.title, about))
            entries.append(_Entry(thing=line, texts=texts))
    return entries


@cache
def _codes() -> Sequence[_Entry[ErrorCode]]:
    return [_entry(code, f"{code.name} {code.status}", code.meaning) for code in ErrorCode]


@cache
def _event_types() -> Sequence[_Entry[EventType]]:
    return [_entry(one, one.value, f"{one.label} {one.description}") for one in EventType]


def _entry(thing: Thing, name: str, about: str) -> _Entry[Thing]:
    return _Entry(thing=thing, texts=(_words(name), _words(name, about)))


def _words(*texts: str) -> str:
    """Return the words of texts in lower case, each after a space."""
    return "".join(f" {word}" for text in texts for word in _WORD.findall(text.casefold()))
