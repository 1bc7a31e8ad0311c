"""What becomes of a row: the classes of the core are made of columns by name, and what is read often by place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

Row = TypeVar("Row")
RowMaker: TypeAlias = Callable[[Sequence[Any]], Row]
# Is told the names of the columns, and gives what makes a row of the values.
RowFactory: TypeAlias = Callable[[Sequence[str]], RowMaker[Row]]


def tuple_row(_: Sequence[str]) -> RowMaker[tuple[Any, ...]]:
    """Leave the row as it is."""
    # The type itself, because the driver knows a short way to it.
    return tuple


def dict_row(names: Sequence[str]) -> RowMaker[dict[str, Any]]:
    """Give the values their names."""
    return lambda values: dict(zip(names, values, strict=True))


def scalar_row(_: Sequence[str]) -> RowMaker[Any]:
    """Take the only value."""
    return lambda values: values[0]


def kwargs_row(make: Callable[..., Row]) -> RowFactory[Row]:
    """Call something with the values by their names, such as a class whose fields they are."""

    def of(names: Sequence[str]) -> RowMaker[Row]:
        return lambda values: make(**dict(zip(names, values, strict=True)))

    return of
