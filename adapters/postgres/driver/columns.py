"""The columns of an entity, derived from the fields of its dataclass: a field of an entity stands once, in core."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, LiteralString, cast

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


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
