"""Colours as `#rrggbb`, and the contrast between two of them (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import colorsys
import re
from typing import Final

from core.errors import BadRequest

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"
# WCAG 2.2, 1.4.3 and 1.4.11: of text, and of what is no text, such as a button.
TEXT_CONTRAST_MIN: Final = 4.5
CONTRAST_MIN: Final = 3.0
# How much of a colour is in the ground of a hint or of a button under the pointer, from the most to the least.
TINT_SHARES: Final = (0.12, 0.08, 0.05, 0.03)
# The grounds of pages, in `entrypoints/pages/assets/styles/base.css`: of a page, and of cards in dark mode.
GROUND: Final = "#f1f3f0"
DARK_SURFACE: Final = "#191f1d"
_COLOR: Final = re.compile(r"#[0-9a-f]{6}")


def checked_color(text: str, field: str) -> str:
    """Return a colour in lower case; raise `BadRequest` for the field when it is none."""
    color = text.strip().lower()
    if len(color) != len(WHITE) or not _COLOR.fullmatch(color):
        raise BadRequest.of_field(field, "A colour is written as # and six hexadecimal digits, such as #14544a.")
    return color


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def text_color_on(color: str) -> str:
    """Return the colour, black or white, in which text on this colour is easier to read; the ratio is 4.5 at least."""
    return WHITE if contrast(color, WHITE) >= contrast(color, BLACK) else BLACK


def mixed(color: str, other: str, share: float) -> str:
    """Return the colour in which `color` has this share, from 0 to 1, and `other` the rest."""
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(one * share + rest * (1 - share)):02x}" for one, rest in pairs)


def readable_on(color: str, ground: str) -> str:
    """Return the colour, darkened or lightened as little as makes it readable on this ground.

    The ratio is `TEXT_CONTRAST_MIN` at least, and the colour itself comes back where it has that already.
    """
    changed = _lightened if text_color_on(ground) == WHITE else _darkened
    return next(
        shade
        for percent in range(100, -1, -5)
        if contrast(shade := changed(color, percent / 100), ground) >= TEXT_CONTRAST_MIN
    )


def tint_of(color: str, ground: str) -> str:
    """Return the ground with a little of the colour, so that text in the colour stays readable on it.

    The ground itself comes back when it is not readable on any other.
    """
    tints = (mixed(color, ground, share) for share in TINT_SHARES)
    return next((tint for tint in tints if contrast(color, tint) >= TEXT_CONTRAST_MIN), ground)


def _darkened(color: str, share: float) -> str:
    return mixed(color, BLACK, share)


def _lightened(color: str, share: float) -> str:
    """Return the colour with a part of its distance from white, in its hue and saturation, so that it is not muddy."""
    if share == 1:
        return color
    hue, lightness, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in _channels(color)))
    channels = colorsys.hls_to_rgb(hue, 1 - (1 - lightness) * share, saturation)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
