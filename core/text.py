"""Text that people type and others read: names, slugs, reasons that platform owners give, and normal forms.

Normalizing takes quadratic time in the number of marks on one letter: 60,000 of them take six seconds. So a text is
bounded first, and nothing else calls `unicodedata.normalize`, which the linter refuses (pyproject.toml).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

from core.errors import BadRequest
from core.limits import NAME_CHARACTERS_MAX, REASON_CHARACTERS_MAX
from core.wording import Wording

SLUG_CHARACTERS_MIN: Final = 3
SLUG_CHARACTERS_MAX: Final = 50
# For a text that a person writes to another person.
MESSAGE_CHARACTERS_MAX: Final = 300
_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Control characters and line separators: a name goes into mail headers, where one of these could begin another header.
# Characters of private use look different everywhere.
_CONTROL_CATEGORIES: Final = frozenset({"Cc", "Co", "Zl", "Zp"})
# Characters that change the direction of the text around them: a name with one is displayed as another name. Joiners,
# which many scripts and emoji need, are none of these.
_DIRECTION_CLASSES: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
# The marks of direction, which have no such class, and characters that are not seen, with which two names look alike.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u200b\u200e\u200f\u2060-\u206f\u2800\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
# What remains: joiners, and selectors of a form of the character before. Programs that look for links skip them.
_JOINING: Final = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
# What mail programs make links of: a scheme, "www.", a dotted name that ends in letters, an address of four numbers.
# Browsers read the ideographic full stop as a dot.
_WEB_ADDRESS: Final = re.compile(
    r"://|\bwww[.\u3002]|[^\W_][.\u3002](?:[^\W\d_]{2}|xn--)|\b\d+(?:\.\d+){3}\b", re.IGNORECASE
)
# A composed character stands for at most this many characters.
COMPOSED_OF_MAX: Final = 4
NormalForm = Literal["NFC", "NFKC", "NFKD"]
# The name of a group, and its id in the directory.
TEXT_CHARACTERS_MAX: Final = 256


def checked_name(name: str, *, characters_min: int, field: str = "name") -> str:
    """Return a name in the form in which it is stored; raise `BadRequest` when it is invalid."""
    trimmed = name.strip()
    if not characters_min <= len(trimmed) <= NAME_CHARACTERS_MAX:
        raise BadRequest.of_field(
            field,
            Wording(
                "A name has %(minimum)s to %(maximum)s characters.", minimum=characters_min, maximum=NAME_CHARACTERS_MAX
            ),
        )
    if any(_is_forbidden(character) for character in trimmed):
        raise BadRequest.of_field(field, "A name is one line, without control characters or invisible ones.")
    return trimmed


def checked_line(text: str, *, characters_max: int, field: str) -> str:
    """Return a line of plain text without surrounding blanks; raise `BadRequest` when it is empty or invalid."""
    trimmed = text.strip()
    if not 1 <= len(trimmed) <= characters_max:
        raise BadRequest.of_field(field, Wording("Write 1 to %(maximum)s characters.", maximum=characters_max))
    if any(_is_forbidden(character) for character in trimmed):
        raise BadRequest.of_field(field, "This is one line, without control characters or invisible ones.")
    return trimmed


def checked_public_name(name: str, *, characters_min: int = 1, field: str = "name") -> str:
    """Return what `checked_name` does, for a name in mails to strangers or on pages.

    Such a name must not contain a web address: mail programs make links of them.
    """
    checked = checked_name(name, characters_min=characters_min, field=field)
    if mentions_web_address(checked):
        raise BadRequest.of_field(
            field,
            "A name cannot contain an address of the web. Write it without dots, such as Example instead of"
            " example.com.",
        )
    return checked


def mentions_web_address(name: str) -> bool:
    """Return whether a program that looks for links would find one in a name; `J.P. Ltd.` and `Inc. 2.0` have none."""
    # Other forms of letters and dots, such as those of full width, are resolved as the usual ones.
    resolved = normalized("NFKC", _JOINING.sub("", name), characters_max=REASON_CHARACTERS_MAX)
    # A text that is longer than allowed is not searched, and counts as one with an address.
    return resolved is None or _WEB_ADDRESS.search(resolved) is not None


def slug_of_name(name: str) -> str:
    """Return the slug that a name proposes, which is empty for a name without Latin letters and digits."""
    # A longer name is refused, whatever its slug is.
    plain = normalized("NFKD", name[:NAME_CHARACTERS_MAX].casefold(), characters_max=NAME_CHARACTERS_MAX) or ""
    words = re.findall(r"[a-z0-9]+", re.sub(r"[\u0300-\u036f'’]", "", plain))
    return "-".join(words)[:SLUG_CHARACTERS_MAX].strip("-")


def checked_slug(text: str, field: str = "slug") -> str:
    """Return the short name of an organization, service or role, as used in paths.

    Raise `BadRequest` for the field when the text is not a slug.
    """
    if not SLUG_CHARACTERS_MIN <= len(text) <= SLUG_CHARACTERS_MAX or not _SLUG.fullmatch(text):
        raise BadRequest.of_field(
            field,
            Wording(
                "A slug has %(minimum)s to %(maximum)s lower-case letters, digits and single dashes,"
                " and neither begins nor ends with a dash.",
                minimum=SLUG_CHARACTERS_MIN,
                maximum=SLUG_CHARACTERS_MAX,
            ),
        )
    return text


def checked_reason(reason: str, field: str = "reason") -> str:
    """Return a platform owner's reason without surrounding blanks; raise `BadRequest` when it is empty or too long."""
    trimmed = reason.strip()
    if not 1 <= len(trimmed) <= REASON_CHARACTERS_MAX:
        raise BadRequest.of_field(
            field, Wording("A reason has 1 to %(maximum)s characters.", maximum=REASON_CHARACTERS_MAX)
        )
    return trimmed


def checked_note(note: str, field: str = "note") -> str:
    """Return what a person writes about what they do, without surrounding blanks; raise `BadRequest` if too long."""
    trimmed = note.strip()
    if len(trimmed) > REASON_CHARACTERS_MAX:
        raise BadRequest.of_field(
            field, Wording("A note has at most %(maximum)s characters.", maximum=REASON_CHARACTERS_MAX)
        )
    return trimmed


def checked_message(message: str, field: str = "message") -> str:
    """Return what a person writes to another person, as one line; raise `BadRequest` when it is invalid.

    An empty text is valid. A message must not lead a person to an address of the web.
    """
    trimmed = message.strip()
    # A line may end with two characters, which become one.
    line = re.sub(r"\r\n|\r|\n", " ", trimmed) if len(trimmed) <= 2 * MESSAGE_CHARACTERS_MAX else trimmed
    if len(line) > MESSAGE_CHARACTERS_MAX:
        raise BadRequest.of_field(
            field, Wording("A message has at most %(maximum)s characters.", maximum=MESSAGE_CHARACTERS_MAX)
        )
    if any(_is_forbidden(character) for character in line):
        raise BadRequest.of_field(field, "A message is plain text, without control characters or invisible ones.")
    if mentions_web_address(line):
        raise BadRequest.of_field(field, "A message cannot contain an address of the web, or one of a mailbox.")
    return line


def _is_forbidden(character: str) -> bool:
    is_control = unicodedata.category(character) in _CONTROL_CATEGORIES
    is_unseen = _INVISIBLE.match(character) is not None
    return is_control or is_unseen or unicodedata.bidirectional(character) in _DIRECTION_CLASSES


def normalized(form: NormalForm, text: str, *, characters_max: int) -> str | None:
    """Return a text in a normal form; None for one that is longer than any text of `characters_max` characters."""
    if len(text) > COMPOSED_OF_MAX * characters_max:
        return None
    return unicodedata.normalize(form, text)  # noqa: TID251 - the one place


def is_normalized(form: NormalForm, text: str, *, characters_max: int) -> bool:
    """Return whether a text is in a normal form; a longer one than `characters_max` is in none."""
    return len(text) <= characters_max and unicodedata.is_normalized(form, text)  # noqa: TID251 - the one place


def stored_form(text: str) -> str:
    """Return a name or an id of the directory as it is stored: in one form, so that what looks alike is the same.

    A text that is too long to be stored only loses its surrounding blanks.
    """
    trimmed = text.strip()
    return (normalized("NFC", trimmed, characters_max=TEXT_CHARACTERS_MAX) or trimmed).strip()
