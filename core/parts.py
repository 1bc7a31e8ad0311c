"""Many rows in parts: what is done for each of them is done for one part, in one statement, after the other.

A use case keeps the event loop until it waits for PostgreSQL. So the parts bound how long all others wait for it, and
how long a statement takes, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

ROWS_AT_ONCE_MAX: Final = 1_000

Row = TypeVar("Row")


def in_parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows, so many at once; nothing for no rows."""
    remaining = iter(rows)
    while part := list(islice(remaining, ROWS_AT_ONCE_MAX)):
        yield part
