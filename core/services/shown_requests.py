"""The kept part of the text of a refused request: enough to find the mistake, and no secret, code, token or person.

A left-out part is shown as "…", which no address contains.
"""

from __future__ import annotations

import re
from typing import Final

from core.services.redirect_uris import URI_CHARACTERS_MAX

LEFT_OUT: Final = "…"
_TEXT_CHARACTERS_MAX: Final = 200
_WORD_CHARACTERS_MAX: Final = 64
# An id has 36 characters, a secret of ours 43.
_SEGMENT_CHARACTERS_MAX: Final = 39
# An `@`, characters that stand for one, and an `@` that was encoded, also several times.
_OF_PERSON: Final = re.compile("[@\N{FULLWIDTH COMMERCIAL AT}\N{SMALL COMMERCIAL AT}]|%(?:25)*40")
_HOST_CHARACTERS_MAX: Final = 253
_LABEL_CHARACTERS_MAX: Final = 63
# Scheme, authority, path, query and fragment; every text has these parts (RFC 3986, appendix B).
_PARTS: Final = re.compile(
    r"(?:((?:[a-z][a-z0-9+.-]{0,39}:)?//)([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL | re.IGNORECASE
)
# Begins a parameter in a path, also encoded.
_PARAMETER: Final = re.compile("[;&=]|%(?:25)*(?:26|3[bdf])", re.IGNORECASE)
# Such as a token or a key.
_UNSPOKEN: Final = re.compile(r"[\w+/=~-]{40,}")
# Such as `action=sign-in`: a word of the program, and no number, code or name of a user.
_WORD: Final = re.compile(r"[A-Za-z:/_-]{0,40}")
_PRIVATE_NAME: Final = re.compile(
    "access|account|assert|auth|code|customer|hash|hint|jwt|key|login|mail|name|nonce|otp|pass|person|secret|session"
    "|state|sub|ticket|token|user|(?<![a-z])id(?![a-z])",
    re.IGNORECASE,
)


def shown_words(text: str) -> str:
    """Return a text of a few words, such as scopes, without words that could be a secret or a mail address."""
    words = [
        LEFT_OUT if len(word) > _WORD_CHARACTERS_MAX or _UNSPOKEN.fullmatch(word) or _OF_PERSON.search(word) else word
        for word in printable(text[: _TEXT_CHARACTERS_MAX + 1]).split(" ")
    ]
    if len(text) > _TEXT_CHARACTERS_MAX:
        words[-1] = LEFT_OUT
    return " ".join(words)


def shown_address(uri: str) -> str:
    """Return an address without user, password and fragment, and without values in path and query that are no words."""
    parts = _PARTS.fullmatch(printable(uri))
    assert parts is not None, "an address without the parts that every text has"
    scheme, authority, path, query, fragment = parts.groups(default="")
    _, at, host = authority.rpartition("@")
    shown = f"{scheme}{LEFT_OUT}@{_host(host)}" if at else f"{scheme}{_host(host)}"
    if len(uri) > URI_CHARACTERS_MAX:
        return shown + _path(path[:_TEXT_CHARACTERS_MAX]) + LEFT_OUT
    shown += _path(path)
    if query:
        shown += "?" + "&".join(_parameter(parameter) for parameter in query[1:].split("&"))
    return f"{shown}#{LEFT_OUT}" if len(fragment) > 1 else shown + fragment


def printable(text: str) -> str:
    """Return a text without control characters, such as those for its direction."""
    return "".join(character if character.isprintable() else LEFT_OUT for character in text)


def _host(host: str) -> str:
    is_too_long = len(host) > _HOST_CHARACTERS_MAX or max(map(len, host.split("."))) > _LABEL_CHARACTERS_MAX
    return LEFT_OUT if is_too_long or _OF_PERSON.search(host) else host


def _path(path: str) -> str:
    return "/".join(_segment(segment) for segment in path.split("/"))


def _segment(segment: str) -> str:
    if len(segment) > _SEGMENT_CHARACTERS_MAX or _OF_PERSON.search(segment):
        return LEFT_OUT
    before, *parameters = _PARAMETER.split(segment, maxsplit=1)
    return f"{before}{LEFT_OUT}" if parameters else before


def _parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not equals:
        return parameter if _WORD.fullmatch(parameter) else LEFT_OUT
    if not _WORD.fullmatch(name):
        return LEFT_OUT
    return parameter if _WORD.fullmatch(value) and not _PRIVATE_NAME.search(name) else f"{name}={LEFT_OUT}"
