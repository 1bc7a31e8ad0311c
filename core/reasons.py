"""Why a platform owner did something, in their own words: asked for before the deed, and kept in the platform's log."""

from __future__ import annotations

from core.errors import BadRequest
from core.organizations import REASON_CHARACTERS_MAX


def checked(reason: str, field: str = "reason") -> str:
    """Give a reason without the blanks around it; refuse an empty one and one that is no longer a reason."""
    trimmed = reason.strip()
    if not 1 <= len(trimmed) <= REASON_CHARACTERS_MAX:
        raise BadRequest.of_field(field, f"A reason has 1 to {REASON_CHARACTERS_MAX} characters.")
    return trimmed
