"""Deciding a filter for one value in memory, such as a group or an element of a list."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from core.scim.filters import And, AttributePath, Comparison, Filter, Not, Operator, Or, Present, Value

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
