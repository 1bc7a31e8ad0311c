"""The normal forms of Unicode, of texts whose length is bounded first.

Normalizing takes quadratic time in the number of marks on one letter: 60,000 of them take six seconds. So nothing else
calls `unicodedata.normalize`, which the linter refuses (pyproject.toml).
"""

from __future__ import annotations

import unicodedata
from typing import Final, Literal

# A composed character stands for at most this many characters.
COMPOSED_OF_MAX: Final = 4

NormalForm = Literal["NFC", "NFKC", "NFKD"]


def normalized(form: NormalForm, text: str, *, characters_max: int) -> str | None:
    """Return a text in a normal form; None for one that is longer than any text of `characters_max` characters."""
    if len(text) > COMPOSED_OF_MAX * characters_max:
        return None
    return unicodedata.normalize(form, text)  # noqa: TID251 - the one place


def is_normalized(form: NormalForm, text: str, *, characters_max: int) -> bool:
    """Return whether a text is in a normal form; a longer one than `characters_max` is in none."""
    return len(text) <= characters_max and unicodedata.is_normalized(form, text)  # noqa: TID251 - the one place
