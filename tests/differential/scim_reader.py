"""A second reading of SCIM filters: the grammar of RFC 7644 by tokens and a stack of operators, and what it selects.

A filter is a list: an attribute is the schema, the name and the part of it, each as written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_NAME: Final = r"\$?[A-Za-z][A-Za-z0-9$_-]*"
_ATTRIBUTE: Final = re.compile(rf"(?ai)(?:(urn(?::[a-z0-9._-]+)+):)?({_NAME})(?:\.({_NAME}))?")
_TOKEN: Final = re.compile(r'[ \t\r\n]*("(?:[^"\\\x00-\x1f]|\\.)*"|[()\[\]]|[^ \t\r\n()\[\]"]+)')
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_OPERATORS: Final = frozenset({"eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"})
_STRENGTHS: Final = {"or": 1, "and": 2, "not": 3}
_CASE_EXACT: Final = frozenset({"id", "externalid", "value", "displayname"})


class _Wrong(Exception):
    """The text is no filter."""


def read(text: str) -> Any:
    """Return the filter in a text; None for none."""
    try:
        return _Reading(text).to_the_end()
    except (_Wrong, ValueError, IndexError, RecursionError):
        return None


def read_target(text: str) -> Any:
    """Return the attribute of a PATCH path, the filter of its values and the part of these; None for none."""
    found = re.fullmatch(r"([^\[\]\"]+?)[ \t\r\n]*\[(.*)\](?:\.([^\[\]\"]+))?[ \t\r\n]*", text, re.DOTALL)
    try:
        if found is None:
            return [_attribute(text.strip(" \t\r\n")), None, None]
        attribute, inner = _attribute(found[1].strip(" \t\r\n")), read(found[2])
        if inner is None or attribute[2] is not None or (found[3] and not re.fullmatch(_NAME, found[3])):
            return None
        return [attribute, inner, found[3]]
    except _Wrong:
        return None


class _Reading:
    """The tokens of a text, and the filters that are read so far."""

    def __init__(self, text: str) -> None:
        self._tokens = self._split(text)
        self._read: list[Any] = []
        # What waits for its right side, and the brackets that are open, each with the attribute before it.
        self._waiting: list[Any] = []

    def to_the_end(self) -> Any:
        while self._tokens:
            self._operand()
            while self._tokens and self._tokens[0] in {")", "]"}:
                self._close(self._tokens.pop(0))
            if self._tokens:
                word = self._tokens.pop(0).lower()
                if word not in {"and", "or"} or not self._tokens:
                    raise _Wrong
                self._combine(_STRENGTHS[word])
                self._waiting.append(word)
        self._combine(0)
        [found] = self._read
        if self._waiting:
            raise _Wrong
        return found

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = []
        place, end = 0, len(text.rstrip(" \t\r\n"))
        while place < end:
            found = _TOKEN.match(text, place)
            if found is None:
                raise _Wrong
            tokens.append(found[1])
            place = found.end()
        return tokens

    def _operand(self) -> None:
        """Read what opens, up to one comparison."""
        while True:
            token = self._tokens.pop(0)
            if token == "(":
                self._waiting.append(("(", None))
            elif token.lower() == "not" and self._tokens[0] == "(":
                self._waiting.append("not")
            elif self._tokens[0] == "[":
                attribute = _attribute(token)
                self._tokens.pop(0)
                if attribute[2] is not None:
                    raise _Wrong
                self._waiting.append(("[", attribute))
            else:
                break
        attribute, operator = _attribute(token), self._tokens.pop(0).lower()
        if operator == "pr":
            self._read.append(["pr", attribute])
        elif operator in _OPERATORS:
            self._read.append([operator, attribute, _value(self._tokens.pop(0))])
        else:
            raise _Wrong

    def _close(self, token: str) -> None:
        self._combine(0)
        opened, attribute = self._waiting.pop()
        if opened + token not in {"()", "[]"}:
            raise _Wrong
        if attribute is not None:
            self._read.append(["in", attribute, self._read.pop()])
        self._combine(3)

    def _combine(self, strength: int) -> None:
        """Apply the operators that bind at least as tightly."""
        while self._waiting and isinstance(self._waiting[-1], str) and _STRENGTHS[self._waiting[-1]] >= strength:
            operator = self._waiting.pop()
            right = self._read.pop()
            if operator == "not":
                self._read.append(["not", right])
            else:
                self._read.append(joined(operator, self._read.pop(), right))


def joined(operator: str, *sides: Any) -> list[Any]:
    """Return several filters as one; how they are grouped makes no difference."""
    flat = [part for side in sides for part in (side[1:] if side[0] == operator else [side])]
    return [operator, *flat]


def _attribute(token: str) -> list[str | None]:
    found = _ATTRIBUTE.fullmatch(token)
    if found is None:
        raise _Wrong
    return list(found.groups())


def _value(token: str) -> Any:
    if token.lower() in _CONSTANTS:
        return _CONSTANTS[token.lower()]
    if not token.startswith('"') and not _NUMBER.fullmatch(token):
        raise _Wrong
    return json.loads(token)


def selects(filter_: Any, resource: Mapping[str, Any]) -> bool:
    """Return whether a filter selects a resource, whose attributes are named in small letters (RFC 7644, 3.4.2.2)."""
    match filter_:
        case ["and", *parts]:
            return all(selects(part, resource) for part in parts)
        case ["or", *parts]:
            return any(selects(part, resource) for part in parts)
        case ["not", inner]:
            return not selects(inner, resource)
        case ["in", [_, name, _], inner]:
            return any(selects(inner, one) for one in _listed(resource, name) if isinstance(one, dict))
        case ["pr", attribute]:
            return _held(attribute, resource) != []
        case ["ne", attribute, value]:
            return not selects(["eq", attribute, value], resource)
        case ["eq", attribute, None]:
            return _held(attribute, resource) == []
        case [operator, attribute, value]:
            name = (attribute[2] or attribute[1]).lower()
            return any(
                _compares(operator, held, value, exact=name in _CASE_EXACT) for held in _held(attribute, resource)
            )
        case _:
            raise AssertionError(filter_)


def _listed(resource: Mapping[str, Any], name: str) -> list[Any]:
    held = resource.get(name.lower())
    return held if isinstance(held, list) else [held]


def _held(attribute: Any, resource: Mapping[str, Any]) -> list[Any]:
    _, name, sub = attribute
    held = _listed(resource, name)
    if sub is not None:
        held = [one.get(sub.lower()) for one in held if isinstance(one, dict)]
    elif isinstance(resource.get(name.lower()), list):
        held = [one.get("value") for one in held]
    return [one for one in held if one is not None]


def _compares(operator: str, held: Any, value: Any, *, exact: bool) -> bool:
    if type(held) is not type(value):
        return False
    if not isinstance(held, str):
        return operator == "eq" and held == value
    a, b = (held, value) if exact else (held.lower(), value.lower())
    return {
        "eq": a == b,
        "co": b in a,
        "sw": a.startswith(b),
        "ew": a.endswith(b),
        "gt": a > b,
        "ge": a >= b,
        "lt": a < b,
        "le": a <= b,
    }[operator]
