"""The languages of pages: English in the code, and every other language as a file `translations/<tag>.po`.

A text is written in English where it is used: `_("…")` in a template, `translated(call, "…")` in a handler, and
`marked("…")` where a constant holds it until a page shows it. Values are named: `_("Sign in to %(place)s", place=…)`;
a percent sign is written as `%%`. `entrypoints/web/input/languages.py` decides which language a page is in. Refusals
are finished English with values (`core/wording.py`), which `Language.known` translates.

Times are written in UTC and say so; the script of every page writes them in the zone of the reader.

The texts of mails (`adapters/gateways/mail_templates`, one template for the plain text and the HTML) are in the same
files. A date on a page is `{{ time | moment }}` or `{{ time | day }}`. Styles use logical properties
(`margin-inline-start`), so that a page turns in a language written from right to left
(ops/decisions/0023-texts-of-pages.md).
"""

from __future__ import annotations

import ast
import gettext
import io
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from markupsafe import Markup

from core.credentials import user_agents
from core.lazy_dataclasses import dataclass
from core.wording import Grouped, Wording
from entrypoints.web.input.languages import SOURCE, TRANSLATIONS
from entrypoints.web.serving.calls import Call

_LINE: Final = re.compile(r'(msgid_plural|msgid|msgstr)?(?:\[\d\])?\s*(".*")')
_MAGIC: Final = 0x950412DE
_HEADER_BYTES: Final = 28
# In the binary form a zero byte separates the singular from the plural, and one plural form from the next.
_SEPARATOR: Final = "\0"
# Of the languages that are written from right to left, those with the most speakers.
RIGHT_TO_LEFT: Final = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")


class PoFileMalformed(ValueError):
    """A line of a `.po` file is neither a comment nor part of an entry."""


def marked(english: str) -> str:
    """Return the text unchanged; it marks a text that a page translates later."""
    return english


MONTHS: Final = (
    marked("January"),
    marked("February"),
    marked("March"),
    marked("April"),
    marked("May"),
    marked("June"),
    marked("July"),
    marked("August"),
    marked("September"),
    marked("October"),
    marked("November"),
    marked("December"),
)
_NAME: Final = marked("English")
_DATE: Final = marked("%(day)s %(month)s %(year)s")
_MOMENT: Final = marked("%(date)s, %(time)s UTC")
_BROWSER_ON_SYSTEM: Final = marked("%(browser)s on %(system)s")
_UNKNOWN_DEVICE: Final = marked("Unknown device")
SHORT_MONTHS: Final = (
    marked("Jan"),
    marked("Feb"),
    marked("Mar"),
    marked("Apr"),
    marked("May"),
    marked("Jun"),
    marked("Jul"),
    marked("Aug"),
    marked("Sep"),
    marked("Oct"),
    marked("Nov"),
    marked("Dec"),
)
_SHORT_DAY: Final = marked("%(day)s %(month)s")
# A time in a list.
_BRIEF: Final = marked("%(day)s, %(time)s UTC")
# A number, which shows the signs between its thousands and before its fraction.
_NUMBER: Final = marked("1,234.5")


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language with its tag (BCP 47), the translations into it, their file, and what its readers call it.

    English has no file.
    """

    tag: str
    translations: gettext.NullTranslations
    file: Path | None = None
    name: str = _NAME

    @property
    def direction(self) -> str:
        """The direction of its script, as HTML names it."""
        return "rtl" if self.tag.partition("-")[0] in RIGHT_TO_LEFT else "ltr"

    def text(self, english: str, **values: object) -> str:
        """Return the translation of a text with its values, or the English text when there is none."""
        return self.translations.gettext(english) % values

    def markup(self, english: str, **values: object) -> Markup:
        """Return the same as markup; what is no markup in the values is escaped."""
        return Markup(self.translations.gettext(english)) % values  # noqa: S704 - a text of ours, like a template

    def known(self, english: str) -> str:
        """Return the translation of a finished text, such as a refusal's; English when there is none.

        A wording is translated with its values, which are written as the language does.
        """
        if isinstance(english, Wording):
            written = {name: self._written(value) for name, value in english.values.items()}
            return self.translations.gettext(english.template) % written
        # The empty text is the header of a file.
        return self.translations.gettext(english) if english else ""

    def recognized(self, stored: str) -> str:
        """Return the translation of a sentence that was stored in finished English.

        It is the translation of the text that fits best, or the sentence itself when none fits.
        """
        for pattern, english in _sentences_of(self.file).items():
            found = pattern.fullmatch(stored)
            if found is not None:
                return self.text(english, **{name: self.known(value) for name, value in found.groupdict().items()})
        return self.known(stored)

    def device_name(self, name: str) -> str:
        """Return the name of a device or passkey; translated where its user has not named it."""
        described = user_agents.described_by(name)
        if described is not None:
            return self.text(_BROWSER_ON_SYSTEM, browser=described[0], system=described[1])
        return self.text(_UNKNOWN_DEVICE) if name == user_agents.UNKNOWN else name

    def number(self, value: float) -> str:
        """Return a number: a whole one with its thousands set apart, another one with its fraction."""
        return str(self._written(Grouped(value) if isinstance(value, int) else value))

    def decimal(self, value: Decimal) -> str:
        """Return a number with the fraction that it has, its thousands set apart."""
        _, _, _, sign, _ = re.split(r"(\D)", self.text(_NUMBER))
        whole, _, fraction = f"{value:f}".partition(".")
        number = self.number(int(whole))
        return f"{number}{sign}{fraction}" if fraction else number

    def day(self, time: date) -> str:
        """Return a date."""
        return self.text(_DATE, day=time.day, month=self.text(MONTHS[time.month - 1]), year=time.year)

    def short_day(self, time: date) -> str:
        """Return a date without its year."""
        return self.text(_SHORT_DAY, day=time.day, month=self.text(SHORT_MONTHS[time.month - 1]))

    def moment(self, time: datetime) -> Markup:
        """Return a time to the minute, in UTC, as an element that the script of the page writes in another zone."""
        utc = time.astimezone(UTC)
        shown = self.text(_MOMENT, date=self.day(utc), time=f"{utc:%H:%M}")
        return Markup('<time datetime="{}">{}</time>').format(utc.isoformat(timespec="seconds"), shown)

    def brief(self, time: datetime) -> Markup:
        """Return a time as lists have it: short, with the whole one as its title."""
        utc = time.astimezone(UTC)
        shown = self.text(_BRIEF, day=self.short_day(utc), time=f"{utc:%H:%M}")
        whole = self.text(_MOMENT, date=self.day(utc), time=f"{utc:%H:%M}")
        return Markup('<time class="brief" datetime="{}" title="{}">{}</time>').format(
            f"{utc:%Y-%m-%dT%H:%M:%SZ}", whole, shown
        )

    def _written(self, value: object) -> object:
        _, thousands, _, fraction, _ = re.split(r"(\D)", self.text(_NUMBER))
        match value:
            case Wording():
                return self.known(value)
            case Enum():
                return self.known(str(value.value))
            case Grouped():
                return str(value).replace(",", thousands)
            case float() | Decimal():
                return str(value).replace(".", fraction)
            case date():
                return self.day(value)
            case _:
                return value


ENGLISH: Final = Language(SOURCE, gettext.NullTranslations())


def read_languages(folder: Path) -> dict[str, Language]:
    """Return English and the languages of the folder, by their tags."""
    files = sorted(folder.glob("*.po"))
    return {ENGLISH.tag: ENGLISH} | {file.stem: _read(file) for file in files}


class _OfFile(gettext.NullTranslations):
    """The translations of a file, which are read when a person first reads in its language: they take megabytes."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    @cached_property
    def _read(self) -> gettext.NullTranslations:
        return translations_of(self._file)

    def gettext(self, message: str) -> str:
        return self._read.gettext(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self._read.ngettext(msgid1, msgid2, n)


def _read(file: Path) -> Language:
    name = translation_in(file.read_text("utf-8"), _NAME)
    return Language(file.stem, _OfFile(file), file, name or file.stem)


@cache
def _sentences_of(file: Path | None) -> Mapping[re.Pattern[str], str]:
    """Return the texts with values that a file translates, by the patterns of their finished English.

    They take some megabytes, so that they are made when a page first shows a stored sentence.
    """
    return _patterns(entries(file.read_text("utf-8"))) if file is not None else {}


def _patterns(texts: Iterable[str]) -> dict[re.Pattern[str], str]:
    """Return the sentences with values by patterns of what they are with them; those with the most words come first."""
    with_values = [text for text in texts if _PLACEHOLDER.search(text) and text.endswith(".") and "<" not in text]
    by_words = sorted(with_values, key=lambda text: len(_PLACEHOLDER.sub("", text)), reverse=True)
    return {_pattern(text): text for text in by_words}


def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a sentence with values.

    Each value but the last ends where the text after it first follows, and is not tried longer: that misses no match,
    and a stored sentence, whose values are written by other systems, takes no more time than its length.
    """
    first, *rest = _PLACEHOLDER.split(text)
    found = [_literally(first)]
    seen: set[str] = set()
    for index in range(0, len(rest), 2):
        name, after = rest[index], _literally(rest[index + 1])
        if name in seen:
            found.append(f"(?P={name}){after}")
        elif index + 2 < len(rest):
            found.append(f"(?=(?P<{name}>.+?){after})(?P={name}){after}")
        else:
            found.append(f"(?P<{name}>.+?){after}")
        seen.add(name)
    return re.compile("".join(found), re.DOTALL)


def _literally(part: str) -> str:
    return re.escape(part.replace("%%", "%"))


def translations_of(file: Path) -> gettext.GNUTranslations:
    """Return the translations of a file; raise `PoFileMalformed` for a line that is not in gettext's form."""
    return gettext.GNUTranslations(io.BytesIO(_binary(entries(file.read_text("utf-8")))))


def translation_in(text: str, original: str) -> str | None:
    """Return the translation of a short text in the text of a file, without reading the others; None without one."""
    found = re.search(rf'^msgid "{re.escape(original)}"\nmsgstr "([^"\\]+)"$', text, re.MULTILINE)
    return found[1] if found is not None else None


def entries(text: str) -> dict[str, str]:
    """Return the translations by their texts, in which a plural follows its singular after a zero character.

    Entries without a translation and those that are marked as fuzzy are left out. The text of the header is empty.
    """
    found: dict[str, str] = {}
    for entry in re.split(r"\n\s*\n", text):
        parts = list(_parts(entry))
        translated = [part for keyword, part in parts if keyword == "msgstr"]
        if all(translated) and translated:
            original = _SEPARATOR.join(part for keyword, part in parts if keyword != "msgstr")
            found[original] = _SEPARATOR.join(translated)
    return found


def _parts(entry: str) -> Iterator[tuple[str, str]]:
    """Return the keywords of an entry and their texts, each joined from its lines."""
    keyword, part = "", ""
    for line in entry.strip().splitlines():
        if line.startswith("#"):
            if line.startswith("#,") and "fuzzy" in line:
                return
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise PoFileMalformed(line)
        if match[1]:
            if keyword:
                yield keyword, part
            keyword, part = match[1], ""
        part += ast.literal_eval(match[2])
    if keyword:
        yield keyword, part


def _binary(translated: dict[str, str]) -> bytes:
    """Return the binary form: a header, two tables of lengths and offsets, and the texts sorted."""
    pairs = sorted((original.encode(), translation.encode()) for original, translation in translated.items())
    texts = [original for original, _ in pairs] + [translation for _, translation in pairs]
    offset = _HEADER_BYTES + 8 * len(texts)
    table = b""
    for text in texts:
        table += struct.pack("<2I", len(text), offset)
        offset += len(text) + 1
    header = struct.pack("<7I", _MAGIC, 0, len(pairs), _HEADER_BYTES, _HEADER_BYTES + 8 * len(pairs), 0, 0)
    return header + table + b"".join(text + b"\0" for text in texts)


LANGUAGES: Final = read_languages(TRANSLATIONS)


def language_of(call: Call) -> Language:
    """Return the language of the person behind a request, else English (`entrypoints/web/input/languages.py`)."""
    return LANGUAGES.get(call.reader_language or "", ENGLISH)


def translated(call: Call, english: str, **values: object) -> str:
    """Return a text in the language of the request, with its values."""
    return language_of(call).text(english, **values)
