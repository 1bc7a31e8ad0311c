"""The filters of SCIM (RFC 7644, 3.4.2.2): their grammar as a tree, reading one, and deciding one in memory.

The parser reads the text of a tree as the same tree. `and` binds more tightly than `or`, and both group from the left.
Names and words of the grammar are read in any case. A filter has a limited length, depth and number of terms, so that
no text takes long, here or in the database. `user_filters.py` gives the attributes a meaning for users.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.scim.refusals import InvalidFilter
from core.wording import Wording

Value: TypeAlias = str | int | float | bool | None


class Operator(StrEnum):
    """A comparison of an attribute with a value."""

    EQ = "eq"
    NE = "ne"
    CO = "co"
    SW = "sw"
    EW = "ew"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"


@dataclass(frozen=True, slots=True)
class AttributePath:
    """The name of an attribute, with schema and sub-attribute if they are named, all as written."""

    name: str
    sub: str | None = None
    schema: str | None = None

    @property
    def key(self) -> str:
        """The name in lower case, with the sub-attribute after a dot: names are compared in any case."""
        return self.name.lower() if self.sub is None else f"{self.name.lower()}.{self.sub.lower()}"

    def __str__(self) -> str:
        schema = "" if self.schema is None else f"{self.schema}:"
        sub = "" if self.sub is None else f".{self.sub}"
        return f"{schema}{self.name}{sub}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """An attribute compared with a value."""

    path: AttributePath
    operator: Operator
    value: Value

    def __str__(self) -> str:
        return f"{self.path} {self.operator} {json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Present:
    """Whether an attribute has a value."""

    path: AttributePath

    def __str__(self) -> str:
        return f"{self.path} pr"


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a filter."""

    inner: Filter

    def __str__(self) -> str:
        return f"not ({self.inner})"


@dataclass(frozen=True, slots=True)
class And:
    """Both filters."""

    left: Filter
    right: Filter

    def __str__(self) -> str:
        left = f"({self.left})" if isinstance(self.left, Or) else str(self.left)
        right = f"({self.right})" if isinstance(self.right, Or | And) else str(self.right)
        return f"{left} and {right}"


@dataclass(frozen=True, slots=True)
class Or:
    """One of the filters, or both."""

    left: Filter
    right: Filter

    def __str__(self) -> str:
        right = f"({self.right})" if isinstance(self.right, Or) else str(self.right)
        return f"{self.left} or {right}"


@dataclass(frozen=True, slots=True)
class ValuePath:
    """A filter of the values of a multi-valued attribute, of which one has to match."""

    path: AttributePath
    inner: Filter

    def __str__(self) -> str:
        return f"{self.path}[{self.inner}]"


Filter: TypeAlias = Comparison | Present | Not | And | Or | ValuePath


@dataclass(frozen=True, slots=True)
class TargetPath:
    """The path of a PATCH operation: an attribute, its values that match a filter, or a part of these."""

    attribute: AttributePath
    values: Filter | None = None
    sub: str | None = None

    @property
    def key(self) -> str:
        """The attribute in lower case, with the sub-attribute after a dot, wherever the path has it."""
        return self.attribute.key if self.sub is None else f"{self.attribute.key}.{self.sub.lower()}"

    def __str__(self) -> str:
        values = "" if self.values is None else f"[{self.values}]"
        sub = "" if self.sub is None else f".{self.sub}"
        return f"{self.attribute}{values}{sub}"


def comparisons(filter_: Filter) -> Iterator[Comparison]:
    """List the comparisons in a filter, with the attribute of a value path before their own."""
    match filter_:
        case Comparison():
            yield filter_
        case Present():
            return
        case Not():
            yield from comparisons(filter_.inner)
        case And() | Or():
            yield from comparisons(filter_.left)
            yield from comparisons(filter_.right)
        case _:
            for inner in comparisons(filter_.inner):
                path = AttributePath(filter_.path.name, inner.path.name, filter_.path.schema)
                yield Comparison(path, inner.operator, inner.value)


def ids_among(texts: Iterable[str]) -> Iterator[UUID]:
    """List the ids among texts, without the texts that are none."""
    for text in texts:
        try:
            yield UUID(text)
        except ValueError:
            continue


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


# A value by the lower-case names of its attributes; a list stands for an attribute with several values.
Attributes: TypeAlias = "Mapping[str, Any]"
# Attributes whose texts are compared exactly; others match in any case (RFC 7643, 2.2).
_CASE_EXACT: Final = frozenset({"id", "externalid", "value", "displayname"})
# The part of an element that is compared when the filter names only the list.
_ELEMENT: Final = "value"
_COMPARE: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQ: operator.eq,
    # An attribute is unequal when none of its values is equal, so `_compares` looks for an equal one instead.
    Operator.NE: operator.ne,
    Operator.CO: operator.contains,
    Operator.SW: lambda held, wanted: held.startswith(wanted),
    Operator.EW: lambda held, wanted: held.endswith(wanted),
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
}


def matches(filter_: Filter, attributes: Attributes) -> bool:
    """Return whether the filter selects a value; an attribute that the value lacks matches nothing."""
    match filter_:
        case Comparison():
            return _compares(filter_, attributes)
        case Present():
            return bool(_values(filter_.path, attributes))
        case Not():
            return not matches(filter_.inner, attributes)
        case And():
            return matches(filter_.left, attributes) and matches(filter_.right, attributes)
        case Or():
            return matches(filter_.left, attributes) or matches(filter_.right, attributes)
        case _:
            return any(matches(filter_.inner, element) for element in _elements(filter_.path.key, attributes))


def _compares(comparison: Comparison, attributes: Attributes) -> bool:
    held = _values(comparison.path, attributes)
    if comparison.operator is Operator.NE:
        return not _compares(Comparison(comparison.path, Operator.EQ, comparison.value), attributes)
    if comparison.value is None:
        return comparison.operator is Operator.EQ and not held
    name = comparison.path.sub or comparison.path.name
    compare = _COMPARE[comparison.operator]
    return any(_is_true(compare, value, comparison.value, name.lower()) for value in held)


def _is_true(compare: Callable[[Any, Any], bool], held: Any, wanted: Value, name: str) -> bool:
    if isinstance(held, str) and isinstance(wanted, str):
        return compare(held, wanted) if name in _CASE_EXACT else compare(held.lower(), wanted.lower())
    # A filter never writes True as 1, and texts are not compared with numbers.
    return type(held) is type(wanted) and compare is _COMPARE[Operator.EQ] and compare(held, wanted)


def _values(path: AttributePath, attributes: Attributes) -> list[Any]:
    """Return the values of an attribute, or of a part of it, without null."""
    found = (
        [element.get(path.sub.lower()) for element in _elements(path.name.lower(), attributes)] if path.sub else None
    )
    if found is None:
        value = attributes.get(path.name.lower())
        if isinstance(value, list):
            found = [element.get(_ELEMENT) for element in _elements(path.name.lower(), attributes)]
        else:
            found = [value]
    return [value for value in found if value is not None]


def _elements(name: str, attributes: Attributes) -> list[Attributes]:
    """Return the parts of an attribute that has parts: itself, or each element of a list."""
    value = attributes.get(name)
    elements = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("Attributes", element) for element in elements if isinstance(element, dict)]
