"""Row factories: classes of the core are made from columns by name, frequently read rows by position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

Row = TypeVar("Row")
RowMaker: TypeAlias = Callable[[Sequence[Any]], Row]
# Takes the names of the columns and returns what makes a row of the values.
RowFactory: TypeAlias = Callable[[Sequence[str]], RowMaker[Row]]


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
