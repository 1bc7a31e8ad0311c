"""The search of the manual: its sections, by the words of their headings, fields and texts, and by synonyms.

The place of a word counts, more than how often it occurs, and how rare it is. A word also finds its other forms
("verify" finds "verifying"), words that it begins, and its synonyms.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias

from core.lazy_dataclasses import dataclass
from entrypoints.pages.manual.contents import ManualPage, pages
from entrypoints.pages.manual.markdown import Section, first_paragraph, plain_text

FOUND_MAX: Final = 20
# Of one page, because several of its sections have the same words.
_OF_PAGE_MAX: Final = 2
_EXCERPT_CHARACTERS_MAX: Final = 180
_HEADING, _TITLE, _FIELDS, _TEXT = 6.0, 4.0, 2.0, 1.0
# What is for auditors and for emergencies stands behind what tells how to do something.
_BEHIND: Final = {"ops/docs/security/": 0.4, "ops/docs/retention": 0.4, "ops/runbooks/": 0.7}
_CODE: Final = re.compile(r"`([^`]+)`")
# What people type, and what the manual calls it. One that is found under its own name needs no line.
_SAME: Final[Sequence[Sequence[str]]] = (
    ("create", "add", "make", "new", "register"),
    ("delete", "remove"),
    ("login", "signin", "sign in"),
    ("logout", "signout", "sign out"),
    ("signup", "registration"),
    ("github", "codehost"),
    ("google", "websuite"),
    ("microsoft", "officesuite"),
    ("social", "codehost websuite"),
    ("mfa", "2fa", "totp", "second factor"),
    ("webauthn", "passkey"),
    ("idp", "identity provider", "connection"),
    ("okta", "entra", "azure", "identity provider"),
    ("sso", "single sign", "identity provider"),
    ("m2m", "client credentials", "workloads"),
    ("oidc", "openid"),
    ("jwt", "access token"),
    ("rbac", "roles"),
    ("permission", "capability"),
    ("tenant", "organization", "customer"),
    ("member", "people"),
    ("app", "application", "service"),
    ("spa", "single-page"),
    ("vue", "angular", "svelte", "single-page"),
    ("hook", "webhook"),
    ("hmac", "signature"),
    ("verify", "check", "signature"),
    ("k8s", "helm", "kubernetes"),
    ("docker", "image", "container"),
    ("smtp", "mail server"),
    ("email", "mail"),
    ("gdpr", "dsgvo", "privacy"),
    ("erase", "anonymize"),
    ("migrate", "import", "upgrade"),
    ("keycloak", "auth0", "importing accounts"),
    ("ldap", "directory", "scim"),
    ("provisioning", "scim"),
    ("splunk", "datadog", "elastic", "siem"),
    ("prometheus", "grafana", "metrics", "monitoring"),
    ("logo", "branding"),
    ("stripe", "payment provider"),
    ("price", "plan"),
    ("env", "environment", "settings"),
    ("variable", "settings"),
    ("redirect", "callback"),
    ("throttle", "rate limit"),
    ("impersonate", "act as"),
    ("rotate", "change key", "new secret"),
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSection:
    """A section that was found, and what it begins with."""

    page: ManualPage
    heading: str
    address: str
    excerpt: str


def found_in_manual(text: str) -> Sequence[FoundSection]:
    """Return the sections that a text finds, the best first."""
    sections, ranking = _index()
    found: list[FoundSection] = []
    of_page = Counter[str]()
    for number in ranking.ranked(text):
        page, section = sections[number]
        of_page[page.slug] += 1
        if of_page[page.slug] <= _OF_PAGE_MAX:
            found.append(_found(page, section))
        if len(found) == FOUND_MAX:
            break
    return found


@cache
def _index() -> tuple[Sequence[tuple[ManualPage, Section]], Ranking]:
    sections = [(page, section) for page in pages().values() for section in page.sections]
    return sections, Ranking((_parts(page, section) for page, section in sections), _synonyms())


def _parts(page: ManualPage, section: Section) -> Sequence[tuple[float, str]]:
    text = "\n".join(section.lines)
    factor = next((factor for folder, factor in _BEHIND.items() if page.file.startswith(folder)), 1.0)
    return (
        (factor * _HEADING, plain_text(section.heading.text)),
        (factor * _TITLE, f"{page.title} {page.slug}"),
        (factor * _FIELDS, " ".join(_CODE.findall(text))),
        (factor * _TEXT, text),
    )


def _synonyms() -> Mapping[str, Sequence[str]]:
    """Return the other names of each word that has some."""
    found: dict[str, list[str]] = {}
    for names in _SAME:
        for name in names:
            found.setdefault(name, []).extend(other for other in names if other != name)
    return found


def _found(page: ManualPage, section: Section) -> FoundSection:
    is_first = section.heading.level == 1
    return FoundSection(
        page=page,
        heading="" if is_first else plain_text(section.heading.text),
        address=page.path if is_first else f"{page.path}#{section.heading.anchor}",
        excerpt=_excerpt(page, section),
    )


def _excerpt(page: ManualPage, section: Section) -> str:
    text = " ".join(first_paragraph(section, page.resolve).striptags().split())
    if len(text) <= _EXCERPT_CHARACTERS_MAX:
        return text
    return text[:_EXCERPT_CHARACTERS_MAX].rpartition(" ")[0] + " …"


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
