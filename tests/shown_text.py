"""What a text shows: words looked for in a page, a mail, an answer or a log, without what is random in it.

A form token of 86 characters holds a given word of three letters once in some thousand runs. So a test that asks
whether a word is absent leaves the ids, tokens, nonces, keys and signatures of the text out. It looks for a secret
itself by `in`: this module refuses a needle that it would leave out.
"""

from __future__ import annotations

import re
from typing import Final

EXCERPT_CHARACTERS: Final = 40
# Half a form token. The ids of requests have 32 characters, the ids of spans 16.
RANDOM_CHARACTERS_MIN: Final = 16
_PLACE: Final = "\N{HORIZONTAL ELLIPSIS}"
_ID: Final = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_DATA: Final = re.compile(r"(?<=;base64,)[A-Za-z0-9+/=]+|(?<=-----)[A-Za-z0-9+/=\s\\]{40,}(?=-----)")
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9_-])(?:[A-Za-z0-9+/]|%2[BF]){40,}+(?:=|%3D){0,2}(?![A-Za-z0-9_-])")
_RUN: Final = re.compile(rf"[A-Za-z0-9_-]{{{RANDOM_CHARACTERS_MIN},}}={{0,2}}")
# Hashes in the names of files.
_HEX: Final = re.compile(r"(?<![A-Za-z0-9])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}(?![A-Za-z0-9])")
# A piece between hyphens or underscores: one word or several in camel case, an abbreviation, or a number.
_WORD: Final = re.compile(r"[A-Z]?[a-z]+[0-9]{0,4}|[a-z]*(?:[A-Z][a-z]{1,20})+|[A-Z]{1,15}[0-9]{0,4}s?|[0-9]{1,14}|")


def shows(text: str, needle: str) -> list[str]:
    """Return each place where the text shows the needle, with what stands around it; none when it does not."""
    assert needle, "an empty text is shown everywhere"
    assert without_random(needle) == needle, f"{needle!r} looks random and would be left out: look for it by `in`"
    shown = without_random(text)
    return [
        shown[max(found.start() - EXCERPT_CHARACTERS, 0) : found.end() + EXCERPT_CHARACTERS]
        for found in re.finditer(re.escape(needle), shown)
    ]


def without_random(text: str) -> str:
    """Return the text with an ellipsis in place of each id, token, nonce, key and signature."""
    text = _DATA.sub(_PLACE, text)
    text = _ID.sub(_PLACE, text)
    text = _ENCODED.sub(_without_encoded, text)
    text = _RUN.sub(_without_run, text)
    return _HEX.sub(_PLACE, text)


def _without_run(run: re.Match[str]) -> str:
    is_words = all(_WORD.fullmatch(piece) for piece in re.split("[-_]", run[0]))
    return run[0] if is_words else _PLACE


def _without_encoded(run: re.Match[str]) -> str:
    # Slashes part the words of a path as well, so that only a run with a random piece loses what is no word.
    pieces = re.split("([+/]|%2[BF])", re.sub("(=|%3D)*$", "", run[0]))
    if not any(len(piece) >= RANDOM_CHARACTERS_MIN and not _WORD.fullmatch(piece) for piece in pieces):
        return run[0]
    return "".join(piece if place % 2 or _is_word(piece) else _PLACE for place, piece in enumerate(pieces))


def _is_word(piece: str) -> bool:
    return piece.isalpha() and _WORD.fullmatch(piece) is not None
