"""The links of plots, rankings and numbers on a page, by what they say."""

from __future__ import annotations

import re
from html import unescape

_MARKS = re.compile(r'<a href="([^"]+)"><title>([^<]+)<')
_NUMBERS = re.compile(
    r'<(?:dt|th scope="row")>([^<]+)(?:</dt><dd>|<svg [^\n]*?</svg></th><td>)<a href="([^"]+)">([^<]+)</a>'
)


def links_of(text: str) -> dict[str, str]:
    """Return the addresses by what leads there: `Monday, Refused: 3` for a part of a bar, `Refused: 3` for a number."""
    marks = {unescape(title): unescape(href) for href, title in _MARKS.findall(text)}
    return marks | {unescape(f"{name}: {number}"): unescape(href) for name, href, number in _NUMBERS.findall(text)}
