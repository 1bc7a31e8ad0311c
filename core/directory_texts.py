"""Names and ids that a directory sends, as they are stored."""

from __future__ import annotations

from typing import Final

from core.normal_forms import normalized

# The name of a group, and its id in the directory.
TEXT_CHARACTERS_MAX: Final = 256


def stored_form(text: str) -> str:
    """Return a name or an id of the directory as it is stored: in one form, so that what looks alike is the same.

    A text that is too long to be stored only loses its surrounding blanks.
    """
    trimmed = text.strip()
    return (normalized("NFC", trimmed, characters_max=TEXT_CHARACTERS_MAX) or trimmed).strip()
