"""How well a text that is typed into the search of a console fits what it could mean, and what comes first for it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final

from core.text import normalized

# Of what is searched for, and of what has its accents looked at.
TEXT_CHARACTERS_MAX: Final = 254
_WORD: Final = re.compile(r"\w+")
# A word of at least this many letters is searched within words too: German joins words, as "Faktor" in "Zweitfaktor".
_PART_LETTERS_MIN: Final = 4
# The most words of a text that are read: a single letter of Arabic may become four words.
WORDS_MAX: Final = 16
# The most letters of a word of a text.
LETTERS_MIN: Final = 2


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
