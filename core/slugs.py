"""Slugs: the short names of organizations, services and roles that stand in paths (decisions 5.1)."""

from __future__ import annotations

import re
from typing import Final

from core.errors import BadRequest

SLUG_CHARACTERS_MIN: Final = 3
SLUG_CHARACTERS_MAX: Final = 50

_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def checked_slug(text: str, field: str = "slug") -> str:
    """Give the slug back when it is one; refuse the field otherwise."""
    if not SLUG_CHARACTERS_MIN <= len(text) <= SLUG_CHARACTERS_MAX or not _SLUG.fullmatch(text):
        raise BadRequest.of_field(
            field,
            f"A slug has {SLUG_CHARACTERS_MIN} to {SLUG_CHARACTERS_MAX} small letters, digits and single dashes,"
            " and neither begins nor ends with a dash.",
        )
    return text
