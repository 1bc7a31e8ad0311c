"""What an email address is, and how two of them are compared."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.errors import BadRequest
from core.limits import EMAIL_CHARACTERS_MAX

# No character is composed of more than four.
_DECOMPOSED_CHARACTERS_MAX: Final = 4 * EMAIL_CHARACTERS_MAX

# One @, something before it, a dotted name after it, no blanks and no quotes: what real mail systems deliver to.
_EMAIL = re.compile(r"[^\s@\"'(),:;<>\[\]\\]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_](?:[\w-]{0,61}[^\W_])")


def canonical_email(typed: str) -> str:
    """Give the one spelling of an address, under which its account is found; what is no address has no account."""
    trimmed = typed.strip().lower()
    # Composed, because an accented letter has two spellings that look the same and are one address to mail systems. But
    # many marks on one letter take the square of their number, and nothing that long is an address.
    return unicodedata.normalize("NFC", trimmed) if len(trimmed) <= _DECOMPOSED_CHARACTERS_MAX else trimmed


def normalize_email(email: str, field: str = "email") -> str:
    """Give the one spelling under which an address is stored; refuse what is no address."""
    normalized = canonical_email(email)
    # What cannot be printed (controls, invisible characters, halves of characters) would make two addresses look alike.
    is_possible = len(normalized) <= EMAIL_CHARACTERS_MAX and normalized.isprintable()
    if not is_possible or not _EMAIL.fullmatch(normalized):
        raise BadRequest.of_field(field, "This is not a valid email address.")
    return normalized
