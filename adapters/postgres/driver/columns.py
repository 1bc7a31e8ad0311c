"""Classes of the core and rows: columns derived from fields, which stand once, in core, and what makes objects of rows.

Frequently read rows are made by position, others by the names of their columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, LiteralString, TypeAlias, TypeVar, cast
from uuid import UUID

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row")
RowMaker: TypeAlias = Callable[[Sequence[Any]], Row]
# Takes the names of the columns and returns what makes a row of the values.
RowFactory: TypeAlias = Callable[[Sequence[str]], RowMaker[Row]]


def columns(entity: type[DataclassInstance], *, table: str = "", without: tuple[str, ...] = ()) -> LiteralString:
    """Return the columns of an entity, `slug, name, …`, or with the alias of a table, `s.slug, s.name, …`."""
    return _listed(entity, f"{table}.{{0}}" if table else "{0}", without)


def placeholders(entity: type[DataclassInstance], *, without: tuple[str, ...] = ()) -> LiteralString:
    """Return what an INSERT writes into the columns of an entity, `%(slug)s, %(name)s, …`."""
    return _listed(entity, "%({0})s", without)


def assignments(entity: type[DataclassInstance], *, without: tuple[str, ...] = ()) -> LiteralString:
    """Return what an UPDATE sets of an entity, `slug = %(slug)s, name = %(name)s, …`."""
    return _listed(entity, "{0} = %({0})s", without)


def prefixed(entity: type[DataclassInstance], *, table: str, prefix: str) -> LiteralString:
    """Return what a SELECT reads of an entity in a joined table, as columns whose names have a prefix."""
    return _listed(entity, f"{table}.{{0}} AS {prefix}{{0}}")


def values(entity: DataclassInstance) -> dict[str, Any]:
    """Return the parameters of an entity by the names of its fields: objects as JSON, enums by their values."""
    return {name: _stored(getattr(entity, name)) for name in _names(type(entity))}


def json_or_null(value: Mapping[str, Any] | None) -> Jsonb | None:
    """Return the parameter of a column of JSON that may be null."""
    return Jsonb(dict(value)) if value is not None else None


def taken(columns: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Remove the columns with a prefix from a row, and return them without the prefix."""
    return {_field(name, prefix): columns.pop(name) for name in list(columns) if name.startswith(prefix)}


@cache
def _field(name: str, prefix: str) -> str:
    # Interned for calls by name, as the columns are (`statements.py`).
    return sys.intern(name.removeprefix(prefix))


@cache
def _listed(entity: type[DataclassInstance], form: str, without: tuple[str, ...] = ()) -> LiteralString:
    # The names come from our dataclasses, and are as literal as the text around them.
    names = [name for name in _names(entity) if name not in without]
    return cast("LiteralString", ", ".join(form.format(name) for name in names))


@cache
def _names(entity: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(entity))


def _stored(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case dict():
            return Jsonb(value)
        case list() | tuple():
            return [_stored(one) for one in cast("Sequence[Any]", value)]
        case _:
            return value


def tuple_row(_: Sequence[str]) -> RowMaker[tuple[Any, ...]]:
    """Make a tuple of a row."""
    # The type itself, because the driver has a fast path for it.
    return tuple


def dict_row(names: Sequence[str]) -> RowMaker[dict[str, Any]]:
    """Make a dictionary of a row."""
    return lambda values: dict(zip(names, values, strict=True))


def scalar_row(_: Sequence[str]) -> RowMaker[Any]:
    """Take the first value of a row."""
    return lambda values: values[0]


def kwargs_row(make: Callable[..., Row]) -> RowFactory[Row]:
    """Call `make`, such as a class, with the values by the names of their columns."""

    def of(names: Sequence[str]) -> RowMaker[Row]:
        return lambda values: make(**dict(zip(names, values, strict=True)))

    return of


def converted(make: Callable[..., Row], **conversions: Callable[[Any], Any]) -> Callable[..., Row]:
    """Return what makes a row as `make` does, after converting the columns of these names, such as to enumerations."""

    def convert(**columns: Any) -> Row:
        return make(**columns | {name: conversion(columns[name]) for name, conversion in conversions.items()})

    return convert


def array_of(values: Iterable[UUID | int]) -> str:
    """Return an array of ids or numbers as PostgreSQL writes it, a text to cast to its type in the statement.

    The driver looks at each element of a list for what has to be quoted, which takes most of the time of a statement
    with some hundred ids.
    """
    return "{" + ",".join(map(str, values)) + "}"


def array_of_times(times: Iterable[datetime]) -> str:
    """Return an array of times, as `array_of` does."""
    return "{" + ",".join([time.isoformat() for time in times]) + "}"
