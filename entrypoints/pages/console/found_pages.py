"""What a search of a console finds besides rows of the database: its sections, and calls of the interface.

All words of a text have to begin words of what is found. A text that names exactly one thing leads there at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Final, cast

import msgspec
import trio

from core.lazy_dataclasses import dataclass
from entrypoints.pages.console.sections import SectionGroup
from entrypoints.pages.frame.languages import Language, marked
from entrypoints.pages.manual.searching import found_in_manual
from entrypoints.web.describing.areas import addresses_of
from entrypoints.web.describing.schemas import for_readers
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.documents import THREADS
from entrypoints.web.serving.incoming import GatehouseRequest

SECTIONS: Final = marked("Sections")
DOCUMENTATION: Final = marked("Documentation")
MANUAL: Final = marked("Manual")
# How many calls of the interface are shown, and how many sections of the manual.
_CALLS_MAX: Final = 10
_MANUAL_MAX: Final = 5
# Of the longest word, to find calls and the manual.
_LETTERS_MIN: Final = 3
# The pages for people, which stand in the reference as well.
_PAGES: Final = "/app"
_WORD: Final = re.compile(r"\w+")


class FindQuery(Query, kw_only=True):
    """What to find."""

    q: Annotated[str, msgspec.Meta(description="An address, a name or an id.", max_length=254)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that was found: its address, its title, what is worth knowing of it, and whether the text is its name."""

    address: str
    title: str
    about: str = ""
    is_exact: bool = False


def found_sections(language: Language, root: str, groups: Iterable[SectionGroup], text: str) -> Sequence[FoundPage]:
    """Return the sections that the reader may open and a text names, in the words of the page; names come first."""
    named: list[FoundPage] = []
    described: list[FoundPage] = []
    for group in groups:
        for section in group.sections:
            name, words = language.known(section.name), language.known(section.words)
            if section.missing or not begins_words(text, f"{name} {words}"):
                continue
            page = FoundPage(
                address=f"{root}{section.path}",
                title=name,
                about=language.known(group.title),
                is_exact=is_name(text, name),
            )
            (named if begins_words(text, name) else described).append(page)
    return [*named, *described]


def found_calls(call: Call, text: str) -> Sequence[FoundPage]:
    """Return the calls of the interface, in the reference, whose titles or paths have the words of a text."""
    found: list[FoundPage] = []
    paths = cast("GatehouseRequest", call.request).paths
    addresses = addresses_of(paths.routes)
    for operation, route in paths.operations.items():
        if route.path.startswith(_PAGES):
            continue
        if begins_words(text, _text_of(route.documentation, route.path), letters_min=_LETTERS_MIN):
            title = for_readers(route.documentation).partition("\n")[0]
            found.append(FoundPage(address=addresses[operation], title=title, about=f"{route.method} {route.path}"))
            if len(found) == _CALLS_MAX:
                break
    return found


async def found_of_manual(text: str) -> Sequence[FoundPage]:
    """Return the sections of the manual whose headings have the words of a text; they are in English."""
    found = await trio.to_thread.run_sync(found_in_manual, text, limiter=THREADS)
    pages = [
        FoundPage(address=one.address, title=one.heading or one.page.title, about=one.page.title)
        for one in found
        if begins_words(text, f"{one.page.title} {one.heading}", letters_min=_LETTERS_MIN)
    ]
    return pages[:_MANUAL_MAX]


def only_page(pages: Sequence[FoundPage]) -> str | None:
    """Return the address of the only page that was found, or of the only one that a text names exactly; else None."""
    exact = [page for page in pages if page.is_exact]
    if len(exact) == 1:
        return exact[0].address
    return pages[0].address if len(pages) == 1 else None


def is_name(text: str, *names: str) -> bool:
    """Return whether a text is one of these names, in any case."""
    return text.strip().casefold() in {name.casefold() for name in names if name}


def begins_words(text: str, of: str, *, letters_min: int = 2) -> bool:
    """Return whether each word of a text begins one of these words, and the longest has this many letters."""
    # What is found is ours and kept; what is typed is not.
    wanted, words = _WORD.findall(text.casefold()), _words_of(of)
    is_long_enough = max(map(len, wanted), default=0) >= letters_min
    return is_long_enough and all(any(word.startswith(one) for word in words) for one in wanted)


@cache
def _text_of(documentation: str, path: str) -> str:
    title, _, _ = for_readers(documentation).partition("\n")
    return f"{title} {path}"


@cache
def _words_of(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))
