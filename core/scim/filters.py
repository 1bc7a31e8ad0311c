"""The filter grammar of SCIM (RFC 7644, 3.4.2.2): a filter as a tree, and its text.

`filter_parser.py` reads filters, `user_filters.py` gives their attributes a meaning for users, and `filter_matching.py`
decides them for a value in memory. The parser reads the text of a tree as the same tree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

from core.lazy_dataclasses import dataclass

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
