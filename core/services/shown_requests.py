"""What is kept of the text of a refused request: enough to find the mistake, and no secret, code, token or person.

What is left out of it is shown as "…", which no address contains.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from core.services.redirect_uris import URI_CHARACTERS_MAX

LEFT_OUT: Final = "…"
_TEXT_CHARACTERS_MAX: Final = 200
_WORD_CHARACTERS_MAX: Final = 64
# An id has 36 characters, a secret of ours 43.
_SEGMENT_CHARACTERS_MAX: Final = 39
_OF_PERSON: Final = re.compile("@|%40", re.IGNORECASE)
# Such as `action=sign-in`: a word of the program, and no number, code or name of a user.
_WORD: Final = re.compile(r"[A-Za-z:/_-]{0,40}")
_PRIVATE_NAME: Final = re.compile(
    "access|account|assert|auth|code|customer|hash|hint|jwt|key|login|mail|name|nonce|otp|pass|person|secret|session"
    "|state|sub|ticket|token|user|(?<![a-z])id(?![a-z])",
    re.IGNORECASE,
)


def shown_words(text: str) -> str:
    """Return a text of a few words, such as scopes, without those that could be a secret or an address of mail."""
    words = [
        LEFT_OUT if len(word) > _WORD_CHARACTERS_MAX or _OF_PERSON.search(word) else word
        for word in _printable(text[: _TEXT_CHARACTERS_MAX + 1]).split(" ")
    ]
    if len(text) > _TEXT_CHARACTERS_MAX:
        words[-1] = LEFT_OUT
    return " ".join(words)


def shown_address(uri: str) -> str:
    """Return an address; user, password and fragment are left out, and in path and query what says more than words."""
    if len(uri) > URI_CHARACTERS_MAX:
        return shown_address(re.split("[?#]", uri)[0][:_TEXT_CHARACTERS_MAX]) + LEFT_OUT
    uri = _printable(uri)
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return re.split("[?#@]", uri)[0] + LEFT_OUT if re.search("[?#@]", uri) else uri
    shown, _, fragment = uri.partition("#")
    shown, question, query = shown.partition("?")
    before, netloc, path = shown.partition(parts.netloc) if parts.netloc else ("", "", shown)
    _, at, host = netloc.rpartition("@")
    shown = f"{before}{LEFT_OUT}@{host}" if at else f"{before}{netloc}"
    shown += "/".join(_segment(segment) for segment in path.split("/"))
    if question:
        shown += "?" + "&".join(_parameter(parameter) for parameter in query.split("&"))
    return f"{shown}#{LEFT_OUT}" if fragment else shown


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else LEFT_OUT for character in text)


def _segment(segment: str) -> str:
    return LEFT_OUT if len(segment) > _SEGMENT_CHARACTERS_MAX or _OF_PERSON.search(segment) else segment


def _parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not equals:
        return parameter if _WORD.fullmatch(parameter) else LEFT_OUT
    if not _WORD.fullmatch(name):
        return LEFT_OUT
    return parameter if _WORD.fullmatch(value) and not _PRIVATE_NAME.search(name) else f"{name}={LEFT_OUT}"
