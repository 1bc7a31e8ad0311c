"""The colours of a brand as a style sheet of its own, because the security policy of pages allows no inline styles.

Whatever the colour is, text stays readable: on the accent, in the accent, in both schemes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.colors import BLACK, DARK_SURFACE, GROUND, WHITE, mixed, readable_on, text_color_on, tint_of

# How much of the colour a button keeps under the pointer.
_HOVER_SHARE: Final = 0.85
# How much of the colour is in the header of a page, where the rest is dark.
_WALL_SHARE: Final = 0.85
_DARK_WALL_SHARE: Final = 0.3


def accent(color: str) -> dict[str, str]:
    """Return the values of a brand's main colour in a light scheme."""
    return _accent(color, readable_on(color, GROUND), WHITE)


def dark_accent(color: str) -> dict[str, str]:
    """Return those in a dark scheme, where a dark colour is lightened until it is readable."""
    lightened = readable_on(color, DARK_SURFACE)
    return _accent(lightened, lightened, DARK_SURFACE)


def walls(color: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values of the headers of pages, in a light scheme and in a dark one."""
    return _wall(mixed(color, BLACK, _WALL_SHARE)), _wall(mixed(color, DARK_SURFACE, _DARK_WALL_SHARE))


def scheme(name: str, values: Mapping[str, str]) -> str:
    """Return the part of a style sheet that sets the values in a scheme; empty without any."""
    if not values:
        return ""
    declared = " ".join(f"{variable}: {value};" for variable, value in values.items())
    return f"@media (prefers-color-scheme: {name}) {{ :root {{ {declared} }} }}\n"


def only_scheme(text: str, name: str) -> str:
    """Return a style sheet, or a page with one, as it is in this scheme whatever the browser of its reader prefers."""
    for one in ("light", "dark"):
        text = text.replace(f"(prefers-color-scheme: {one})", "all" if one == name else "not all")
    return text.replace("color-scheme: light dark;", f"color-scheme: {name};")


def _accent(color: str, text: str, surface: str) -> dict[str, str]:
    on_accent = text_color_on(color)
    return {
        "--accent": color,
        # Away from the text on it.
        "--accent-hover": mixed(color, BLACK if on_accent == WHITE else WHITE, _HOVER_SHARE),
        "--on-accent": on_accent,
        "--accent-text": text,
        "--accent-text-hover": text,
        "--tint": tint_of(text, surface),
    }


def _wall(color: str) -> dict[str, str]:
    return {"--wall": color, "--on-wall": text_color_on(color)}
