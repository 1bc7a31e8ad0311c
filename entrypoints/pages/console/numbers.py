"""Whole numbers as people type them."""

from __future__ import annotations

from core.errors import BadRequest
from core.limits import TIER_LIMIT_MAX


def limit_of(text: str, field: str, problem: str) -> int | None:
    """Return the limit that was typed into a field; None where it is empty. Raise `BadRequest` with the problem."""
    digits = text.strip()
    if not digits:
        return None
    # Of no more digits than the highest limit has: the conversion of very many could take long.
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(TIER_LIMIT_MAX))
    if not (is_number and int(digits) <= TIER_LIMIT_MAX):
        raise BadRequest.of_field(field, problem)
    return int(digits)
