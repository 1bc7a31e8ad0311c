"""What the search of a console finds besides rows of the database: pages, what is done there, and the documentation.

What the reader's page would refuse is left out. `rank_of` says how well a text fits what it could mean. A script shows
the same while one types, as the options of the palette (`options_page`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Annotated, Final, TypeAlias, cast

import msgspec
import trio
from quart import Response

from core.lazy_dataclasses import dataclass
from core.text import normalized
from entrypoints.pages.console.account import ACCOUNT
from entrypoints.pages.console.actions import CREATE_ORGANIZATION
from entrypoints.pages.console.actions import OF_ACCOUNT as ACTIONS_OF_ACCOUNT
from entrypoints.pages.console.sections import OF_ACCOUNT, Section, SectionGroup
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.rendering import page
from entrypoints.pages.manual.searching import found_in_manual
from entrypoints.pages.reference.searching import operations_called
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.answering.documents import THREADS
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import GatehouseRequest

# Of what is searched for, and of what has its accents looked at.
TEXT_CHARACTERS_MAX: Final = 254
_WORD: Final = re.compile(r"\w+")
# A word of at least this many letters is searched within words too: German joins words, as "Faktor" in "Zweitfaktor".
_PART_LETTERS_MIN: Final = 4
# The most words of a text that are read: a single letter of Arabic may become four words.
WORDS_MAX: Final = 16
# The most letters of a word of a text.
LETTERS_MIN: Final = 2
PAGES: Final = marked("Pages and actions")
DOCUMENTATION: Final = marked("Documentation")
MANUAL: Final = marked("Manual")
# Shorter texts find no rows while they are typed: the indexes are of three letters.
TYPED_LETTERS_MIN: Final = 3
# How many calls of the interface are shown, and how many sections of the manual.
_CALLS_MAX: Final = 10
_MANUAL_MAX: Final = 5
# Of each kind, while a text is typed.
_OPTIONS_MAX: Final = 6
_YOUR_ACCOUNT: Final = marked("Your account")
_ACTION: Final = "create"
# The title of what was found together, and its pages.
Group: TypeAlias = "tuple[str, Sequence[FoundPage]]"


class Rank(IntEnum):
    """How a text fits: it is a name, begins one, begins words of one or of what else is said, or is a part of words."""

    NAME = 0
    BEGINNING = 1
    WORDS = 2
    DESCRIBED = 3
    PART = 4


def rank_of(text: str, names: Sequence[str], about: Sequence[str] = ()) -> Rank | None:
    """Return how a text fits what has these names, and of which this is said besides; None when it does not.

    Every word of the text has to fit one of the words, in any order.
    """
    if is_name(text, names):
        return Rank.NAME
    if longest_word(text) < LETTERS_MIN:
        return None
    asked = _asked(text)
    named = [_words(name) for name in names]
    if any(len(words) >= len(asked) and all(map(_begins, asked, words)) for words in named):
        return Rank.BEGINNING
    if any(_all_begin(asked, words) for words in named):
        return Rank.WORDS
    said = [word for part in (*named, *map(_words, about)) for word in part]
    if _all_begin(asked, said):
        return Rank.DESCRIBED
    return Rank.PART if all(any(_is_within(one, word) for word in said) for one in asked) else None


def longest_word(text: str) -> int:
    """Return how many letters the longest word of a text has."""
    return max(map(len, _asked(text)), default=0)


def is_name(text: str, names: Sequence[str]) -> bool:
    """Return whether a text is one of these names, in any case."""
    return text.strip().casefold() in {name.casefold() for name in names if name}


@lru_cache(maxsize=1)
def _asked(text: str) -> Sequence[str]:
    """Return the words of a text that is searched for, which is compared with one name after the other."""
    return _words(text)[:WORDS_MAX]


def _words(text: str) -> list[str]:
    """Return the words of a text, without case and accents."""
    folded = text.casefold()
    letters = normalized("NFKD", folded, characters_max=TEXT_CHARACTERS_MAX) or folded
    return _WORD.findall("".join(one for one in letters if not unicodedata.combining(one)))


def _all_begin(asked: Iterable[str], words: Sequence[str]) -> bool:
    return all(any(_begins(one, word) for word in words) for one in asked)


def _begins(asked: str, word: str) -> bool:
    """Return whether a word begins with what is asked for, which may also be its plural."""
    return word.startswith(asked) or asked == f"{word}s"


def _is_within(asked: str, word: str) -> bool:
    return _begins(asked, word) or (len(asked) >= _PART_LETTERS_MIN and asked in word)


class FindQuery(Query, kw_only=True):
    """What to find."""

    q: Annotated[str, msgspec.Meta(description="An address, a name or an id.", max_length=TEXT_CHARACTERS_MAX)] = ""

    @property
    def searched(self) -> str:
        """The text without the space around it."""
        return self.q.strip()

    @property
    def typed(self) -> str:
        """What is searched for among rows while the text is typed; empty for one that is too short."""
        return self.searched if len(self.searched) >= TYPED_LETTERS_MIN else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that was found: its address, its title, what is worth knowing of it, and how the text fits it.

    `icon` is the name of a drawing of `styles/icons.css`.
    """

    address: str
    title: str
    about: str = ""
    rank: Rank = Rank.PART
    icon: str = ""


def row_page(text: str, address: str, title: str, about: str, *names: str, icon: str) -> FoundPage:
    """Return the page of a row that was found by a text; it has further names besides its title."""
    rank = rank_of(text, (title, *names), (about,))
    # The database finds parts of words as well.
    return FoundPage(address=address, title=title, about=about, rank=Rank.PART if rank is None else rank, icon=icon)


def found_pages(
    call: Call, text: str, *, root: str, groups: Iterable[SectionGroup], actions: Iterable[Section]
) -> Sequence[FoundPage]:
    """Return the pages and actions of a console and of the reader's account that fit a text, the best first.

    `groups` and `actions` belong to the console below `root`. An empty text finds all of the console.
    """
    known = language_of(call).known
    ranked: dict[str, FoundPage] = {}

    def add(address: str, section: Section, icon: str, about: str = "") -> None:
        names, words = (known(section.name), section.name), (known(section.words), section.words)
        rank = rank_of(text, names, words) if text else Rank.WORDS
        # Of a page and what is done there, the one that fits better; without a text both.
        key = address if text else f"{address} {section.name}"
        if rank is not None and (key not in ranked or rank < ranked[key].rank):
            ranked[key] = FoundPage(address=address, title=names[0], about=about, rank=rank, icon=icon)

    # Of what fits equally, a page comes before what is done there.
    for section in (one for group in groups for one in group.sections if not one.missing):
        add(root + section.path, section, _icon_of(section))
    for action in actions:
        add(root + action.path, action, _ACTION)
    if (text or root == ACCOUNT) and not call.in_browser.is_closed_to_account:
        about = known(_YOUR_ACCOUNT) if root != ACCOUNT else ""
        for section, icon in _of_account(call):
            add(ACCOUNT + section.path, section, icon, about)
        add(CREATE_ORGANIZATION.path, CREATE_ORGANIZATION, _ACTION, about)
    if not text:
        # What is done is in no navigation.
        return sorted(ranked.values(), key=lambda one: one.icon != _ACTION)
    return sorted(ranked.values(), key=lambda one: one.rank)


def _of_account(call: Call) -> Iterable[tuple[Section, str]]:
    """Return what is open of the reader's account, and its icons; some is closed to who acts as another user."""
    sections = [(one, _icon_of(one)) for group in OF_ACCOUNT for one in group.sections]
    for section, icon in [*sections, *((one, _ACTION) for one in ACTIONS_OF_ACCOUNT)]:
        route, _ = _request(call).paths.find("GET", ACCOUNT + section.path)
        if call.acts_for is None or not route.who.is_for_oneself:
            yield section, icon


def _icon_of(section: Section) -> str:
    """Return the icon of a section, or of the one that a page is within."""
    return section.path.split("/")[1] if section.path else "overview"


def found_calls(call: Call, text: str) -> Sequence[FoundPage]:
    """Return the calls of the interface, in the reference, that have the words of a text."""
    if longest_word(text) < TYPED_LETTERS_MIN:
        return []
    return [
        FoundPage(address=one.address, title=one.title.replace("`", ""), about=f"{one.method} {one.path}", icon="docs")
        for one in operations_called(_request(call).paths.routes, text)[:_CALLS_MAX]
    ]


async def found_documentation(call: Call, text: str) -> list[Group]:
    """Return the calls of the interface and the sections of the manual that have the words of a text."""
    return [(DOCUMENTATION, found_calls(call, text)), (MANUAL, await _found_of_manual(text))]


async def _found_of_manual(text: str) -> Sequence[FoundPage]:
    """Return the sections of the manual whose headings have the words of a text; they are in English."""
    if longest_word(text) < TYPED_LETTERS_MIN:
        return []
    found = await trio.to_thread.run_sync(found_in_manual, text, limiter=THREADS)
    return [
        # The page is named too: a console may have one with the same title.
        FoundPage(address=one.address, title=": ".join(filter(None, (one.page.title, one.heading))), icon="docs")
        for one in found
        if rank_of(text, (f"{one.page.title} {one.heading}",), ()) is not None
    ][:_MANUAL_MAX]


def _request(call: Call) -> GatehouseRequest:
    return cast("GatehouseRequest", call.request)


def grouped(pages: Sequence[FoundPage], rows: Iterable[Group], documentation: Iterable[Group] = ()) -> list[Group]:
    """Return what was found by its kinds, that with the best fit first and the documentation last."""
    groups = [(title, sorted(found, key=lambda one: one.rank)) for title, found in rows]
    by_fit = sorted(((PAGES, pages), *groups), key=lambda one: min((found.rank for found in one[1]), default=Rank.PART))
    return [(title, found) for title, found in (*by_fit, *documentation) if found]


def only_page(groups: Iterable[Group]) -> str | None:
    """Return the address of the only page that was found, or of the only one that a text names exactly; else None.

    The documentation counts for nothing.
    """
    pages = [one for title, found in groups if title not in {DOCUMENTATION, MANUAL} for one in found]
    exact = [one for one in pages if one.rank is Rank.NAME]
    if len(exact) == 1:
        return exact[0].address
    return pages[0].address if len(pages) == 1 else None


def options_page(call: Call, query: FindQuery, groups: Iterable[Group], every: str) -> Response:
    """Return what was found as the options of the palette; `every` is the page with all that the text finds."""
    return page(
        call,
        "console/found_options.html",
        groups=[(title, found[:_OPTIONS_MAX]) for title, found in groups] if query.searched else list(groups),
        searched=query.searched,
        every=every,
    )
