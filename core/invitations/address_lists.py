"""Lists of people as they are typed or copied: the addresses in them, and the texts that contain none.

One address on each line, several with commas, semicolons, tabs or spaces between them, the form of mail programs
(`Emma Stone <emma@example.com>`), rows of a spreadsheet. No address in the text is lost silently: each is read, or it
is named among the repeated ones; what has no address is named as well. Whether a text with an at sign is an address is
decided where it is invited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final

from core.lazy_dataclasses import dataclass

# A cell ends at one of these outside of double quotes. The last quote of a line may be one without a second.
_CELL: Final = re.compile(r'(?:"[^"]*"|[^"\t,;\uff0c\uff1b\u3001]|"(?=[^"]*$))+')
# The address of a mail program, behind the name of its person.
_IN_ANGLE_BRACKETS: Final = re.compile(r"<([^<>\s@]*@[^<>\s]*)>")
# Inside of a cell, where quotes mean nothing any more.
_BETWEEN_WORDS: Final = re.compile(r"[\s,;\uff0c\uff1b\u3001]+")
_PAIRS: Final = ('""', "''", "()", "[]", "<>", "\u201c\u201d", "\u2018\u2019", "\u201e\u201c", "\u00ab\u00bb")
_SCHEME: Final = "mailto:"
_PAIRS_MAX: Final = 3
# Characters without a width, which copied texts bring along.
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedList:
    """What a text contains: each address once, those that it has more than once, and texts without an address.

    `names` are texts on the lines of addresses, such as the other cells of a spreadsheet; `lines` are the lines without
    any address. `called` has what people are called, by their addresses: the name of a mail program, or the only text
    beside the only address of a line.
    """

    addresses: tuple[str, ...]
    repeated: tuple[str, ...]
    names: tuple[str, ...]
    lines: tuple[str, ...]
    called: Mapping[str, str] = field(default_factory=dict[str, str])


def read(text: str) -> TypedList:
    """Return what is in the text, in its order; the work is proportional to the length."""
    addresses: dict[str, str] = {}
    repeated: dict[str, str] = {}
    names: dict[str, None] = {}
    lines: dict[str, None] = {}
    called: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.translate(_INVISIBLE).splitlines())):
        found, beside, named = _parts(line)
        if not found:
            lines[line] = None
            continue
        names.update(dict.fromkeys(beside))
        if len(found) == len(beside) == 1:
            named.setdefault(found[0], beside[0])
        for address in found:
            if address in named:
                called.setdefault(address, named[address])
            key = address.lower()
            if key in addresses:
                repeated.setdefault(key, address)
            else:
                addresses[key] = address
    return TypedList(
        addresses=tuple(addresses.values()),
        repeated=tuple(repeated.values()),
        names=tuple(names),
        lines=tuple(lines),
        called=called,
    )


def written(address: str, name: str | None) -> str:
    """Return an address with its name, as a list is read again; an address alone where the name has a quote."""
    return f'"{name}" <{address}>' if name and '"' not in name else address


def _parts(line: str) -> tuple[list[str], list[str], dict[str, str]]:
    """Return the addresses of a line, the texts beside them, and the names that stand before addresses in brackets."""
    addresses: list[str] = []
    beside: list[str] = []
    named: dict[str, str] = {}
    for cell in _CELL.findall(line):
        if bracketed := _IN_ANGLE_BRACKETS.findall(cell):
            own = [_bare(address) for address in bracketed]
            addresses += own
            # An address in the name of another one is not invited, but named.
            name = _IN_ANGLE_BRACKETS.sub(" ", cell)
            if len(own) == 1 and "@" not in name and (words := _unquoted(name.strip())):
                named[own[0]] = words
            beside += [word for word in _words(name) if "@" in word and word not in own]
            continue
        words = [*_words(cell)]
        found = [word for word in words if "@" in word]
        addresses += found
        if found:
            beside += [word for word in words if "@" not in word]
        elif name := _unquoted(cell.strip()):
            beside.append(name)
    return addresses, beside, named


def _words(text: str) -> Iterator[str]:
    return filter(None, map(_bare, _BETWEEN_WORDS.split(text)))


def _bare(word: str) -> str:
    """Return a word without what encloses it, the scheme of a link, and the end of a sentence."""
    # A quote that encloses several addresses is at the first and at the last.
    bare = _unquoted(word.strip('"')).rstrip(".:")
    return bare[len(_SCHEME) :] if bare.lower().startswith(_SCHEME) else bare


def _unquoted(text: str) -> str:
    for _ in range(_PAIRS_MAX):
        if len(text) < len(_PAIRS[0]) or text[0] + text[-1] not in _PAIRS:
            break
        text = text[1:-1].strip()
    return text
