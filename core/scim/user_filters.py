"""Filters of users: translates attributes and comparisons to stored columns.

The result is the condition of one statement, which `adapters/postgres/scim/user_filters.py` writes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import Final, TypeAlias
from uuid import UUID

from core.email_addresses import ToAscii, canonical_email, part_of_email
from core.lazy_dataclasses import dataclass
from core.scim.filters import And, AttributePath, Comparison, Filter, Not, Operator, Or, Present
from core.scim.refusals import InvalidFilter
from core.wording import Wording

USER_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:User"


class Column(Enum):
    """A stored column of the filters."""

    ID = "id"
    EXTERNAL_ID = "externalId"
    USER_NAME = "userName"
    EMAIL = "emails.value"
    DISPLAY_NAME = "displayName"
    IS_PRIMARY = "emails.primary"
    IS_ACTIVE = "active"
    CREATED_AT = "meta.created"
    UPDATED_AT = "meta.lastModified"


@dataclass(frozen=True, slots=True)
class Compared:
    """A column compared with a value of its type; texts are in the form for comparison."""

    column: Column
    operator: Operator
    value: str | bool | UUID | datetime


@dataclass(frozen=True, slots=True)
class Given:
    """Whether a column has a value."""

    column: Column


@dataclass(frozen=True, slots=True)
class Always:
    """A condition that always or never holds."""

    is_true: bool


@dataclass(frozen=True, slots=True)
class Opposite:
    """The opposite of a condition."""

    inner: Condition


@dataclass(frozen=True, slots=True)
class Both:
    """Both conditions."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either:
    """One of the conditions, or both."""

    left: Condition
    right: Condition


Condition: TypeAlias = Compared | Given | Always | Opposite | Both | Either

# The attributes in lower case; the address is the one value of `emails`.
_COLUMNS: Final = {column.value.lower(): column for column in Column} | {"emails": Column.EMAIL}
# The only type, which every address has.
_EMAIL_TYPE: Final = "emails.type"
_WORK: Final = "work"
_OPTIONAL: Final = frozenset({Column.EXTERNAL_ID, Column.DISPLAY_NAME})
_BOOLEANS: Final = frozenset({Column.IS_ACTIVE, Column.IS_PRIMARY})
_TIMES: Final = frozenset({Column.CREATED_AT, Column.UPDATED_AT})
_EQUALITY: Final = frozenset({Operator.EQ, Operator.NE})
_PARTS: Final = frozenset({Operator.CO, Operator.SW, Operator.EW})


def condition_of(filter_: Filter, to_ascii: ToAscii) -> Condition:
    """Return the condition of the users that a filter selects; raise `InvalidFilter`."""
    match filter_:
        case Comparison():
            return _comparison(filter_, to_ascii)
        case Present():
            return _presence(filter_.path)
        case Not():
            return Opposite(condition_of(filter_.inner, to_ascii))
        case And():
            return Both(condition_of(filter_.left, to_ascii), condition_of(filter_.right, to_ascii))
        case Or():
            return Either(condition_of(filter_.left, to_ascii), condition_of(filter_.right, to_ascii))
        case _:
            return condition_of(_outside(filter_.inner, filter_.path), to_ascii)


def _outside(filter_: Filter, path: AttributePath) -> Filter:
    """Return a filter in brackets without them; a user has one value of each attribute, so both mean the same."""
    match filter_:
        case Comparison():
            return Comparison(_inside(filter_.path, path), filter_.operator, filter_.value)
        case Present():
            return Present(_inside(filter_.path, path))
        case Not():
            return Not(_outside(filter_.inner, path))
        case And():
            return And(_outside(filter_.left, path), _outside(filter_.right, path))
        case Or():
            return Or(_outside(filter_.left, path), _outside(filter_.right, path))
        case _:
            raise InvalidFilter("Brackets inside brackets are not supported.")


def _inside(inner: AttributePath, outer: AttributePath) -> AttributePath:
    if inner.sub is not None:
        raise InvalidFilter(Wording("%(outer)s[%(inner)s] names more than an attribute has.", outer=outer, inner=inner))
    return AttributePath(outer.name, inner.name, outer.schema)


def _presence(path: AttributePath) -> Condition:
    if _is_email_type(path):
        return Always(is_true=True)
    column = _column(path)
    return Given(column) if column in _OPTIONAL else Always(is_true=True)


def _comparison(comparison: Comparison, to_ascii: ToAscii) -> Condition:
    if _is_email_type(comparison.path):
        return _of_email_type(comparison)
    column, operator = _column(comparison.path), comparison.operator
    if comparison.value is None:
        is_missing = Opposite(Given(column)) if column in _OPTIONAL else Always(is_true=False)
        if operator not in _EQUALITY:
            raise _unsupported(comparison)
        return is_missing if operator is Operator.EQ else Opposite(is_missing)
    if column is Column.ID:
        return _id(comparison)
    if column in _BOOLEANS:
        return Compared(column, _required_equality(comparison), _boolean(comparison))
    if column in _TIMES:
        if operator in _PARTS:
            raise _unsupported(comparison)
        return Compared(column, operator, _time(comparison))
    return Compared(column, operator, _text(column, comparison, to_ascii))


def _is_email_type(path: AttributePath) -> bool:
    _require_schema(path)
    return path.key == _EMAIL_TYPE


def _column(path: AttributePath) -> Column:
    column = _COLUMNS.get(path.key)
    if column is None:
        names = ", ".join(column.value for column in Column)
        raise InvalidFilter(
            Wording("Users cannot be filtered by %(path)s. They can be filtered by %(names)s.", path=path, names=names)
        )
    return column


def _require_schema(path: AttributePath) -> None:
    if path.schema is not None and path.schema.lower() != USER_SCHEMA.lower():
        raise InvalidFilter(Wording("Users have no attributes of the schema %(schema)s.", schema=path.schema))


def _of_email_type(comparison: Comparison) -> Condition:
    is_equal = isinstance(comparison.value, str) and comparison.value.lower() == _WORK
    return Always(is_true=is_equal is (_required_equality(comparison) is Operator.EQ))


def _id(comparison: Comparison) -> Condition:
    value = comparison.value
    if not isinstance(value, str):
        raise _unsupported(comparison)
    if comparison.operator not in _EQUALITY:
        return Compared(Column.ID, comparison.operator, value)
    try:
        user_id = UUID(value)
    except ValueError:
        return Always(is_true=comparison.operator is Operator.NE)
    return Compared(Column.ID, comparison.operator, user_id)


def _boolean(comparison: Comparison) -> bool:
    # Some clients write it as a text.
    value = comparison.value.lower() if isinstance(comparison.value, str) else comparison.value
    if value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise _unsupported(comparison)
    return value


def _time(comparison: Comparison) -> datetime:
    try:
        moment = datetime.fromisoformat(str(comparison.value))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidFilter(
            Wording("%(path)s is compared with a time such as 2026-01-31T12:00:00Z.", path=comparison.path)
        ) from None


def _text(column: Column, comparison: Comparison, to_ascii: ToAscii) -> str:
    value = comparison.value
    if not isinstance(value, str):
        raise _unsupported(comparison)
    if column is Column.EXTERNAL_ID:
        return value
    if column is Column.DISPLAY_NAME:
        return value.lower()
    # The form of stored addresses.
    return (part_of_email if comparison.operator in _PARTS else canonical_email)(value, to_ascii)


def _required_equality(comparison: Comparison) -> Operator:
    if comparison.operator not in _EQUALITY:
        raise _unsupported(comparison)
    return comparison.operator


def _unsupported(comparison: Comparison) -> InvalidFilter:
    return InvalidFilter(
        Wording(
            "%(path)s cannot be compared by %(operator)s with this value.",
            path=comparison.path,
            operator=comparison.operator,
        )
    )
