"""The languages of pages: English in the code, and every other language as a file `translations/<tag>.po`.

A text is written in English where it is used: `_("…")` in a template, `translated(call, "…")` in a handler, and
`marked("…")` where a constant holds it until a page shows it. Values are named: `_("Sign in to %(place)s", place=…)`;
a percent sign is written as `%%`. The language that the browser prefers decides, or during a sign-in
the one that the service has asked for.
"""

from __future__ import annotations

import gettext
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from entrypoints.pages.po_files import translations_of
from entrypoints.shared.languages import SOURCE, TRANSLATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from entrypoints.web.serving.calls import Call

# Of the languages that are written from right to left, those with the most speakers.
RIGHT_TO_LEFT: Final = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
# More than any browser sends; what follows is not read.
ACCEPT_CHARACTERS_MAX: Final = 200
_REMEMBERED_MAX: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language with its tag (BCP 47) and the translations into it."""

    tag: str
    translations: gettext.NullTranslations

    @property
    def direction(self) -> str:
        """The direction of its script, as HTML names it."""
        return "rtl" if self.tag.partition("-")[0] in RIGHT_TO_LEFT else "ltr"

    def text(self, english: str, **values: object) -> str:
        """Return the translation of a text with its values, or the English text when there is none."""
        return self.translations.gettext(english) % values

    def known(self, english: str) -> str:
        """Return the translation of a finished text, such as a refusal's; English when there is none."""
        # The empty text is the header of a file.
        return self.translations.gettext(english) if english else ""


ENGLISH: Final = Language(SOURCE, gettext.NullTranslations())


def read_languages(folder: Path) -> dict[str, Language]:
    """Return English and the languages of the folder, by their tags."""
    files = sorted(folder.glob("*.po"))
    return {ENGLISH.tag: ENGLISH} | {file.stem: Language(file.stem, translations_of(file)) for file in files}


LANGUAGES: Final = read_languages(TRANSLATIONS)


def language_of(call: Call) -> Language:
    """Return the language that a service has asked for, else what the browser prefers among ours, else English."""
    if call.language is not None and call.language in LANGUAGES:
        return LANGUAGES[call.language]
    return _preferred(call.request.headers.get("Accept-Language", "")[:ACCEPT_CHARACTERS_MAX])


def offered(tags: Sequence[str]) -> str | None:
    """Return the tag of the first language that is offered; None when none of them is (RFC 4647, 3.4)."""
    return next((found for tag in tags if (found := _looked_up(tag)) is not None), None)


def translated(call: Call, english: str, **values: object) -> str:
    """Return a text in the language of the request, with its values."""
    return language_of(call).text(english, **values)


def marked(english: str) -> str:
    """Return the text unchanged; it marks a text that a page translates later."""
    return english


@lru_cache(maxsize=_REMEMBERED_MAX)
def _preferred(accepted: str) -> Language:
    """Look up each range in the order of preference, then without its subtags (RFC 4647, 3.4)."""
    ranges: Any = parse_accept_header(accepted, LanguageAccept)
    accepted_tags = (_looked_up(tag) for tag, quality in ranges if quality > 0)
    return next((LANGUAGES[tag] for tag in accepted_tags if tag is not None), ENGLISH)


def _looked_up(tag: str) -> str | None:
    return next((one for one in (tag.lower(), tag.lower().partition("-")[0]) if one in LANGUAGES), None)
