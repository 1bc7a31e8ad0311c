"""Text that people type and others read: names, slugs, and the reasons that platform owners give."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.errors import BadRequest
from core.limits import NAME_CHARACTERS_MAX, REASON_CHARACTERS_MAX

SLUG_CHARACTERS_MIN: Final = 3
SLUG_CHARACTERS_MAX: Final = 50

_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

# Control characters and line separators: a name goes into mail headers, where one of these could begin another header.
_CONTROL_CATEGORIES: Final = frozenset({"Cc", "Zl", "Zp"})
# Characters that change the direction of the text around them: a name with one is displayed as another name. Joiners,
# which many scripts and emoji need, are none of these.
_DIRECTION_CLASSES: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def checked_name(name: str, *, characters_min: int, field: str = "name") -> str:
    """Return a name in the form in which it is stored; raise `BadRequest` when it is invalid."""
    trimmed = name.strip()
    if not characters_min <= len(trimmed) <= NAME_CHARACTERS_MAX:
        raise BadRequest.of_field(field, f"A name has {characters_min} to {NAME_CHARACTERS_MAX} characters.")
    if any(_is_forbidden(character) for character in trimmed):
        raise BadRequest.of_field(field, "A name is one line, without control characters.")
    return trimmed


def checked_slug(text: str, field: str = "slug") -> str:
    """Return the short name of an organization, service or role, as used in paths (decisions 5.1).

    Raise `BadRequest` for the field when the text is not a slug.
    """
    if not SLUG_CHARACTERS_MIN <= len(text) <= SLUG_CHARACTERS_MAX or not _SLUG.fullmatch(text):
        raise BadRequest.of_field(
            field,
            f"A slug has {SLUG_CHARACTERS_MIN} to {SLUG_CHARACTERS_MAX} lower-case letters, digits and single dashes,"
            " and neither begins nor ends with a dash.",
        )
    return text


def checked_reason(reason: str, field: str = "reason") -> str:
    """Return a platform owner's reason without surrounding blanks; raise `BadRequest` when it is empty or too long."""
    trimmed = reason.strip()
    if not 1 <= len(trimmed) <= REASON_CHARACTERS_MAX:
        raise BadRequest.of_field(field, f"A reason has 1 to {REASON_CHARACTERS_MAX} characters.")
    return trimmed


def _is_forbidden(character: str) -> bool:
    is_control = unicodedata.category(character) in _CONTROL_CATEGORIES
    return is_control or unicodedata.bidirectional(character) in _DIRECTION_CLASSES
