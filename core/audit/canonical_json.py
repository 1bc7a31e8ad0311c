"""Canonical JSON (RFC 8785): one sequence of bytes for each value, so that anyone can compute the same hash."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final, cast

# Its texts have the escapes that RFC 8785 prescribes.
_LITERALS: Final = json.JSONEncoder(ensure_ascii=False)
# ECMAScript writes numbers from 1e-6 up to this many digits before the point without an exponent.
_INTEGER_DIGITS_MAX: Final = 21
_LEADING_ZEROS_MAX: Final = 6


def canonical(value: Any) -> bytes:
    """Return the canonical form of a JSON value."""
    return _text(value).encode()


def _text(value: Any) -> str:
    match value:
        case bool() | None | str():
            return _LITERALS.encode(value)
        case int() | float():
            return _number(value)
        case list():
            return f"[{','.join(_text(item) for item in cast('list[Any]', value))}]"
        case _:
            # Names are ordered by their UTF-16 code units.
            members = sorted(cast("dict[str, Any]", value).items(), key=lambda member: member[0].encode("utf-16-be"))
            return f"{{{','.join(f'{_LITERALS.encode(name)}:{_text(item)}' for name, item in members)}}}"


def _number(value: float) -> str:
    """Write a number as ECMAScript does: the shortest digits that name the same double."""
    number = float(value)
    if number == 0:
        return "0"
    parts = Decimal(repr(abs(number))).normalize().as_tuple()
    digits = "".join(map(str, parts.digits))
    # The digits before the point; with leading zeros after it, this is negative.
    before = len(digits) + int(parts.exponent)
    sign = "-" if number < 0 else ""
    if len(digits) <= before <= _INTEGER_DIGITS_MAX:
        return f"{sign}{digits.ljust(before, '0')}"
    if 0 < before <= _INTEGER_DIGITS_MAX:
        return f"{sign}{digits[:before]}.{digits[before:]}"
    if -_LEADING_ZEROS_MAX < before <= 0:
        return f"{sign}0.{'0' * -before}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{before - 1:+d}"
