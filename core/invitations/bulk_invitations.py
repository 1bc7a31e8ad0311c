"""Inviting the people of a long list: reading the list as it is typed or copied, and the rows of the job.

A list has one address on each line, several with commas, semicolons, tabs or spaces between them, the form of mail
programs (`Emma Stone <emma@example.com>`), or rows of a spreadsheet. No address in the text is lost silently: each is
read, or it is named among the repeated ones; what has no address is named as well. Whether a text with an at sign is an
address is decided where it is invited.

The job is in `core/organizations/bulk_jobs.py`. An address that the list has more than once, and a text without an
address, is a row too, which is refused, so that the page of the job names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest
from core.invitations import invitations
from core.lazy_dataclasses import dataclass
from core.limits import EMAIL_CHARACTERS_MAX, NAME_CHARACTERS_MAX
from core.organizations.bulk_jobs import WantedRow

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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


class LeftOut(StrEnum):
    """Why a row of the list is not invited; stored as what the page has shown of its state."""

    REPEATED = "repeated"
    NAMES = "names"


# What is stored of a row with a name in its place.
_CALLED: Final = "called "
REPEATED: Final = "The list has this address more than once; it is invited once."
NAMES: Final = "These texts have no address, so they were taken as names. Add the addresses of people who are missing."
# A row is as long as an address; one character more shows that it is cut.
_LABEL_CHARACTERS_MAX: Final = EMAIL_CHARACTERS_MAX + 1
_BETWEEN_NAMES: Final = ", "
_BETWEEN_SLUGS: Final = ","


def rows_of(typed: TypedList) -> list[WantedRow]:
    """Return the rows of a job that invites everyone in the list; first those that only name what is left out."""
    return [
        *(_row(text, seen=LeftOut.NAMES) for text in _joined(typed.names)),
        *(_row(text, seen=LeftOut.REPEATED) for text in typed.repeated),
        *(_row(text) for text in typed.lines),
        *(_row(text, seen=_seen(typed.called.get(text))) for text in typed.addresses),
    ]


def details_of(role: str, services: Sequence[str], message: str | None) -> Mapping[str, str]:
    """Return what a job stores for all of its invitations; `invite` takes it."""
    given = {"services": _BETWEEN_SLUGS.join(services), "message": message}
    return {"role": role} | {name: value for name, value in given.items() if value}


def invite(uow: UnitOfWork, slug: str, address: str, details: Mapping[str, str], *, left_out: str) -> None:
    """Invite the person of a row; raise `BadRequest` for a row that only names what was left out."""
    if left_out == LeftOut.REPEATED:
        raise BadRequest(REPEATED)
    if left_out == LeftOut.NAMES:
        raise BadRequest(NAMES)
    services = details["services"].split(_BETWEEN_SLUGS) if "services" in details else []
    name = left_out.removeprefix(_CALLED) if left_out.startswith(_CALLED) else None
    message = details.get("message")
    invitations.invite(uow, slug, address, details["role"], services=services, message=message, name=name)


def _seen(name: str | None) -> str:
    return f"{_CALLED}{name[:NAME_CHARACTERS_MAX]}" if name else ""


def _row(text: str, *, seen: str = "") -> WantedRow:
    return WantedRow(label=text[:_LABEL_CHARACTERS_MAX], seen=seen)


def _joined(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, as many together as fit into a row: a spreadsheet has one beside each address."""
    line = ""
    for name in names:
        longer = f"{line}{_BETWEEN_NAMES}{name}" if line else name
        if line and len(longer) > _LABEL_CHARACTERS_MAX:
            yield line
            longer = name
        line = longer
    if line:
        yield line
