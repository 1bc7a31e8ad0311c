"""How output is shown on a terminal: in colours unless that is unwanted, and with no text that could steer it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TextIO


class Color(StrEnum):
    """A colour of ECMA-48, which every terminal has."""

    RED = "31"
    GREEN = "32"
    YELLOW = "33"


def takes_colors(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether an output is in colours: on a terminal that has them, unless NO_COLOR is set (no-color.org)."""
    return out.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def colored(text: str, color: Color) -> str:
    """Return a text with the codes that show it in a colour."""
    return f"\x1b[{color}m{text}\x1b[0m"


def printable(text: str) -> str:
    """Return a text of others on one line, with `�` for what would steer a terminal or hide what is written."""
    line = " ".join(text.splitlines())
    return "".join(character if character.isprintable() else "�" for character in line)
