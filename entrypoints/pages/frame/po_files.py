"""Reads the translations of a `.po` file (the text form of gettext), without a step that compiles it first.

The standard library reads the binary form only, so a file is brought into that form in memory.
"""

from __future__ import annotations

import ast
import gettext
import io
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(r'(msgid_plural|msgid|msgstr)?(?:\[\d\])?\s*(".*")')
_MAGIC: Final = 0x950412DE
_HEADER_BYTES: Final = 28
# In the binary form a zero byte separates the singular from the plural, and one plural form from the next.
_SEPARATOR: Final = "\0"


class PoFileMalformed(ValueError):
    """A line of a `.po` file is neither a comment nor part of an entry."""


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
