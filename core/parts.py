"""Many rows in parts: one statement handles one part, one part after the other.

A use case keeps the event loop until it waits for PostgreSQL. So the parts bound how long all others wait for it, and
how long a statement takes, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, Protocol, TypeVar
from uuid import UUID

ROWS_AT_ONCE_MAX: Final = 1_000

Row = TypeVar("Row")
Row_co = TypeVar("Row_co", covariant=True)


class Reading(Protocol[Row_co]):
    """Returns the first rows, or the first after an id, in the order of their ids; fewer than `limit` are the last."""

    def __call__(self, *, after: UUID | None, limit: int) -> Sequence[Row_co]:
        """Return them."""
        ...


def in_parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows, so many at once; nothing for no rows."""
    remaining = iter(rows)
    while part := list(islice(remaining, ROWS_AT_ONCE_MAX)):
        yield part


def read_in_parts(read: Reading[Row], id_of: Callable[[Row], UUID]) -> Iterator[Sequence[Row]]:
    """Yield all rows, so many at once; nothing for no rows."""
    after: UUID | None = None
    while part := read(after=after, limit=ROWS_AT_ONCE_MAX):
        yield part
        if len(part) < ROWS_AT_ONCE_MAX:
            return
        after = id_of(part[-1])
