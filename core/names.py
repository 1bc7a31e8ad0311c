"""Names that people give to organizations and roles: one line, which reads as it is written."""

from __future__ import annotations

import unicodedata
from typing import Final

from core.errors import BadRequest
from core.limits import NAME_CHARACTERS_MAX

# Controls, and what else begins a line: a name goes into letters, where that could begin something else.
_BREAKING: Final = frozenset({"Cc", "Zl", "Zp"})
# What turns the direction of the text around it: with it a name shows as another one. Joiners, which scripts and
# pictures are written with, are none of these.
_TURNING: Final = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def checked_name(name: str, *, characters_min: int) -> str:
    """Give the spelling under which a name is stored; refuse what is no name."""
    trimmed = name.strip()
    if not characters_min <= len(trimmed) <= NAME_CHARACTERS_MAX:
        raise BadRequest.of_field("name", f"A name has {characters_min} to {NAME_CHARACTERS_MAX} characters.")
    if any(_is_unfit(character) for character in trimmed):
        raise BadRequest.of_field("name", "A name is one line, without control characters.")
    return trimmed


def _is_unfit(character: str) -> bool:
    return unicodedata.category(character) in _BREAKING or unicodedata.bidirectional(character) in _TURNING
