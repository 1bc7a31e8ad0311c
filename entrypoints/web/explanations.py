"""The decoder's messages in words for a person: which field it is, and what would be right."""

import re
from typing import Final

from core.errors import BadRequest

_MISSING: Final = re.compile(r"Object missing required field `([^`]*)`")
_EXPECTED: Final = re.compile(r"Expected (.*?)(?:, got .*)?")
_TYPES: Final = re.compile(r"`([^`]*)`")
_BOUND: Final = re.compile(r"(?P<length> of length)? (?P<comparison>>=|<=) ")

_WORDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "datetime": "a time",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "text",
}
_SENTENCES: Final = {
    "Invalid UUID": "This must be an id (a UUID).",
    "Invalid RFC3339 encoded datetime": "This must be a time such as 2026-01-31T12:00:00Z (RFC 3339).",
    "Invalid RFC3339 encoded date": "This must be a date such as 2026-01-31 (RFC 3339).",
    "Integer value out of range": "This number is too large.",
    "Number out of range": "This number is too large.",
}


def explained(message: str) -> BadRequest:
    """Turn a message of the decoder into a refusal of the field that it is about."""
    what, _, where = message.rpartition(" - at ")
    if not where.endswith("`") or not what:
        what, where = message, ""
    # "`$.a.b[0]`", or "`key` in `$.a`" for the key of an object.
    path = where.rpartition("`$")[2].removesuffix("`").removeprefix(".")

    missing = _MISSING.fullmatch(what)
    if missing is not None:
        return BadRequest.of_field(f"{path}.{missing[1]}" if path else missing[1], "This field is required.")
    return BadRequest.of_field(path or "body", _sentence(what))


def _sentence(what: str) -> str:
    if what in _SENTENCES:
        return _SENTENCES[what]
    if what.startswith("Invalid enum value"):
        # The value itself is left out: it is somebody else's text, of any length.
        return "This is none of the values that are possible here."
    expected = _EXPECTED.fullmatch(what)
    if expected is None:
        return what
    wanted = _TYPES.sub(lambda types: _listed(types[1].split(" | ")), expected[1])
    return f"This must be {_BOUND.sub(_bounded, wanted)}."


def _listed(types: list[str]) -> str:
    *others, last = [_WORDS.get(name, name) for name in types]
    return f"{', '.join(others)} or {last}" if others else last


def _bounded(bound: re.Match[str]) -> str:
    length = " with a length" if bound["length"] else ""
    return f"{length} of at {'least' if bound['comparison'] == '>=' else 'most'} "
