"""Colours as `#rrggbb`, and the contrast between two of them (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re
from typing import Final

from core.errors import BadRequest

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"
_COLOR: Final = re.compile(r"#[0-9a-f]{6}")


def checked_color(text: str, field: str) -> str:
    """Return a colour in lower case; raise `BadRequest` for the field when it is none."""
    color = text.strip().lower()
    if not _COLOR.fullmatch(color):
        raise BadRequest.of_field(field, "A colour is written as # and six hexadecimal digits, such as #14544a.")
    return color


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def text_color_on(color: str) -> str:
    """Return the colour, black or white, in which text on this colour is easier to read; the ratio is 4.5 at least."""
    return WHITE if contrast(color, WHITE) >= contrast(color, BLACK) else BLACK


def _luminance(color: str) -> float:
    red, green, blue = (_linear(int(color[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
