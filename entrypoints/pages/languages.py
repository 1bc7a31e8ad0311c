"""The languages of pages: English in the code, and every other language as a file `translations/<tag>.po`.

A text is written in English where it is used: `_("…")` in a template, `translated(call, "…")` in a handler, and
`marked("…")` where a constant holds it until a page shows it. Values are named: `_("Sign in to %(place)s", place=…)`;
a percent sign is written as `%%`. `entrypoints/web/serving/languages.py` decides which language a page is in.
"""

from __future__ import annotations

import gettext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from entrypoints.pages.po_files import translations_of
from entrypoints.web.serving.languages import SOURCE, TRANSLATIONS

if TYPE_CHECKING:
    from pathlib import Path

    from entrypoints.web.serving.calls import Call

# Of the languages that are written from right to left, those with the most speakers.
RIGHT_TO_LEFT: Final = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


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
    """Return the language of the person behind a request, else English (`entrypoints/web/serving/languages.py`)."""
    return LANGUAGES.get(call.reader_language or "", ENGLISH)


def translated(call: Call, english: str, **values: object) -> str:
    """Return a text in the language of the request, with its values."""
    return language_of(call).text(english, **values)


def marked(english: str) -> str:
    """Return the text unchanged; it marks a text that a page translates later."""
    return english
