"""Email addresses: validation, and the canonical form in which they are compared."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.errors import BadRequest
from core.limits import EMAIL_CHARACTERS_MAX

# No character decomposes into more than four.
_DECOMPOSED_CHARACTERS_MAX: Final = 4 * EMAIL_CHARACTERS_MAX

# One @, something before it, a dotted name after it, no blanks and no quotes: what real mail systems deliver to.
_EMAIL = re.compile(r"[^\s@\"'(),:;<>\[\]\\]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_](?:[\w-]{0,61}[^\W_])")


def canonical_email(typed: str) -> str:
    """Return the canonical form of an address, under which its account is found; the text is not validated."""
    trimmed = typed.strip().lower()
    # NFC, because an accented letter has two encodings that look the same and are one address to mail systems. The time
    # is quadratic in the number of marks on one letter, so longer texts, which are not addresses, are left as they are.
    return unicodedata.normalize("NFC", trimmed) if len(trimmed) <= _DECOMPOSED_CHARACTERS_MAX else trimmed


def normalize_email(email: str, field: str = "email") -> str:
    """Return the canonical form under which an address is stored; raise `BadRequest` when it is not an address."""
    normalized = canonical_email(email)
    # Unprintable characters (controls, invisible characters, lone surrogates) would make two addresses look alike.
    is_possible = len(normalized) <= EMAIL_CHARACTERS_MAX and normalized.isprintable()
    if not is_possible or not _EMAIL.fullmatch(normalized):
        raise BadRequest.of_field(field, "This is not a valid email address.")
    return normalized
