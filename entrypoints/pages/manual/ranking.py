"""Ranks texts by the words of a search: the place of a word counts, more than how often it occurs, and how rare it is.

A word also finds its other forms ("verify" finds "verifying"), words that it begins, and its synonyms.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

# What a text is made of: its parts, each with its weight.
Parts: TypeAlias = Sequence[tuple[float, str]]
# What else finds what a word means: each a word or several.
Synonyms: TypeAlias = Mapping[str, Sequence[str]]

# Of what is typed.
WORDS_MAX: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")
# Joined, "back-channel" is what people type.
_COMPOUND: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_PLURAL: Final = re.compile(r"(?<=..[^s])s$")
_ENDING: Final = re.compile(r"(?<=.....)(?:ation|ating|ated|ate)$|(?<=...)(?:ication|ation|ying|ied|ie|ing|ed|e|y)$")
# What says nothing about a text.
_COMMON: Final = frozenset(
    {"a", "an", "and", "do", "for", "how", "i", "in", "is", "my", "of", "on", "set", "the", "to", "up", "with"}
)
# In relation to the word itself.
_BEGUN: Final = 0.5
_SYNONYM: Final = 0.6
_BEGUN_LETTERS_MIN: Final = 4


class Ranking:
    """An index of texts, each of several parts with their weights."""

    def __init__(self, texts: Iterable[Parts], synonyms: Synonyms) -> None:
        self._by_word: dict[str, dict[int, float]] = {}
        self._synonyms = {stem(word): others for word, others in synonyms.items()}
        count = 0
        for count, parts in enumerate(texts, 1):
            for weight, part in parts:
                words = Counter(words_of(part))
                for word, times in words.items():
                    found = self._by_word.setdefault(word, {})
                    found[count - 1] = found.get(count - 1, 0.0) + weight * (1 - 0.5**times)
        self._words = sorted(self._by_word)
        self._rarity = {word: math.log(1 + count / len(found)) for word, found in self._by_word.items()}

    def ranked(self, text: str) -> list[int]:
        """Return the numbers of the texts that have all words of a text, or else most of them."""
        words = list(dict.fromkeys(_WORD.findall(text.casefold())))
        wanted = [stem(word) for word in words if word not in _COMMON][:WORDS_MAX]
        found = [self._scores(word) for word in wanted]
        had = Counter(number for scores in found for number in scores)
        most = max(had.values(), default=0)
        totals = {
            number: sum(scores.get(number, 0.0) for scores in found) for number, count in had.items() if count == most
        }
        return sorted(totals, key=lambda number: (-totals[number], number))

    def _scores(self, word: str) -> dict[int, float]:
        """Return what each text that has a word, a word that it begins, or a synonym of it is worth."""
        scores = self._scored(word, 1.0)
        for one in self._begun(word):
            _raise_to(scores, self._scored(one, _BEGUN))
        of_synonyms: dict[int, float] = {}
        for synonym in self._synonyms.get(word, ()):
            of_each = [self._scored(one, _SYNONYM) for one in words_of(synonym)]
            both = set[int].intersection(*map(set, of_each))
            _raise_to(of_synonyms, {number: max(one[number] for one in of_each) for number in both})
        return {
            number: scores.get(number, 0.0) + of_synonyms.get(number, 0.0) for number in scores.keys() | of_synonyms
        }

    def _scored(self, word: str, factor: float) -> dict[int, float]:
        rarity = factor * self._rarity.get(word, 0.0)
        return {number: rarity * weight for number, weight in self._by_word.get(word, {}).items()}

    def _begun(self, word: str) -> Iterator[str]:
        if len(word) < _BEGUN_LETTERS_MIN:
            return
        for one in self._words[bisect_left(self._words, word) :]:
            if not one.startswith(word):
                return
            if one != word:
                yield one


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text without their endings, and the words of a compound also as one."""
    lower = text.casefold()
    yield from map(stem, _WORD.findall(lower))
    for compound in _COMPOUND.findall(lower):
        yield stem(compound.replace("-", ""))


def stem(word: str) -> str:
    """Return a word without an ending of English, so that its forms are the same: "verify", "verified", "verifies"."""
    return _ENDING.sub("", _PLURAL.sub("", word))


def _raise_to(scores: dict[int, float], others: Mapping[int, float]) -> None:
    for number, score in others.items():
        scores[number] = max(score, scores.get(number, 0.0))
