"""Reading filters and the paths of PATCH operations; see `filters.py`.

`and` binds more tightly than `or`, and both group from the left. Names and words of the grammar are read in any case.
A filter has a limited length, depth and number of terms, so that no text takes long, here or in the database.
"""

from __future__ import annotations

import json
import re
from typing import Final

from core.scim.filters import (
    And,
    AttributePath,
    Comparison,
    Filter,
    Not,
    Operator,
    Or,
    Present,
    TargetPath,
    Value,
    ValuePath,
)
from core.scim.refusals import InvalidFilter
from core.wording import Wording

CHARACTERS_MAX: Final = 8_000
TERMS_MAX: Final = 50
DEPTH_MAX: Final = 10
NUMBER_CHARACTERS_MAX: Final = 18

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?(?![\w.])")
# An id without quotation marks, as some clients write it: `members[value eq 0196c9f2-…]`.
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w.-])", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z]+(?![\w.:-])")
_PATH: Final = re.compile(
    r"(?:(?P<schema>[A-Za-z][\w.+-]*(?::[\w.+-]+)*):)?(?P<name>[A-Za-z$][\w$-]*)(?:\.(?P<sub>[A-Za-z$][\w$-]*))?",
    re.ASCII,
)
_SUB: Final = re.compile(r"\.([A-Za-z$][\w$-]*)", re.ASCII)
# An escape may stand for what no stored text contains: NUL, or half of a character.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_CONSTANTS: Final[dict[str, Value]] = {"true": True, "false": False, "null": None}
_NESTING: Final = Wording("A filter is nested at most %(depth)s levels deep.", depth=DEPTH_MAX)


def parse(text: str) -> Filter:
    """Return the filter that a text means; raise `InvalidFilter`."""
    return _Parser(text).whole_filter()


def parse_target(text: str) -> TargetPath:
    """Return the path of an operation; raise `InvalidFilter`."""
    return _Parser(text).whole_target()


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > CHARACTERS_MAX:
            raise InvalidFilter(Wording("A filter has at most %(maximum)s characters.", maximum=CHARACTERS_MAX))
        self._text = text
        self._position = 0
        self._terms = 0
        self._depth = 0

    def whole_filter(self) -> Filter:
        found = self._disjunction()
        self._require_end()
        return found

    def whole_target(self) -> TargetPath:
        attribute = self._path()
        values: Filter | None = None
        sub: str | None = None
        if attribute.sub is None and self._takes("["):
            values = self._nested("]")
            part = _SUB.match(self._text, self._position)
            if part is not None:
                self._position, sub = part.end(), part[1]
        self._require_end()
        return TargetPath(attribute, values, sub)

    def _disjunction(self) -> Filter:
        found = self._conjunction()
        while self._takes_word("or"):
            found = Or(found, self._conjunction())
        return found

    def _conjunction(self) -> Filter:
        found = self._term()
        while self._takes_word("and"):
            found = And(found, self._term())
        return found

    def _term(self) -> Filter:
        start = self._position
        if self._takes_word("not"):
            if self._takes("("):
                return Not(self._nested(")"))
            # An attribute may have this name.
            self._position = start
        if self._takes("("):
            return self._nested(")")
        return self._expression()

    def _expression(self) -> Filter:
        self._terms += 1
        if self._terms > TERMS_MAX:
            raise InvalidFilter(Wording("A filter has at most %(maximum)s comparisons.", maximum=TERMS_MAX))
        path = self._path()
        if path.sub is None and self._takes("["):
            return ValuePath(path, self._nested("]"))
        word = self._word()
        if word == "pr":
            return Present(path)
        if word not in set(Operator):
            raise self._unexpected("an operator such as eq, co or pr")
        return Comparison(path, Operator(word), self._value())

    def _nested(self, end: str) -> Filter:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise InvalidFilter(_NESTING)
        found = self._disjunction()
        if not self._takes(end):
            raise self._unexpected(end)
        self._depth -= 1
        return found

    def _path(self) -> AttributePath:
        found = self._take(_PATH)
        if found is None:
            raise self._unexpected("the name of an attribute")
        return AttributePath(found["name"], found["sub"], found["schema"])

    def _value(self) -> Value:
        string = self._take(_STRING)
        if string is not None:
            return self._string(string[0])
        unquoted_id = self._take(_ID)
        if unquoted_id is not None:
            return unquoted_id[0]
        number = self._take(_NUMBER)
        if number is not None and len(number[0]) <= NUMBER_CHARACTERS_MAX:
            return json.loads(number[0])
        word = self._word()
        if word not in _CONSTANTS:
            raise self._unexpected('a value such as "text", 1, true or null')
        return _CONSTANTS[word]

    def _string(self, written: str) -> str:
        try:
            value: str = json.loads(written, strict=False)
        except ValueError:
            raise self._unexpected("a text in JSON") from None
        if _UNSTORABLE.search(value):
            raise InvalidFilter("A text in the filter contains a character that cannot be stored.")
        return value

    def _word(self) -> str:
        found = self._take(_WORD)
        return "" if found is None else found[0].lower()

    def _takes_word(self, word: str) -> bool:
        start = self._position
        if self._word() == word:
            return True
        self._position = start
        return False

    def _takes(self, character: str) -> bool:
        self._skip_blanks()
        if not self._text.startswith(character, self._position):
            return False
        self._position += 1
        return True

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._skip_blanks()
        found = pattern.match(self._text, self._position)
        if found is not None:
            self._position = found.end()
        return found

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self._text, self._position)
        assert blanks is not None, "a pattern that fits nothing did not match"
        self._position = blanks.end()

    def _require_end(self) -> None:
        self._skip_blanks()
        if self._position < len(self._text):
            raise self._unexpected("the end")

    def _unexpected(self, expected: str) -> InvalidFilter:
        return InvalidFilter(
            Wording(
                "The filter is not valid near character %(position)s: %(expected)s is expected.",
                position=self._position + 1,
                expected=expected,
            )
        )
