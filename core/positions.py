"""Lists in parts: after a position, so that no page reads what comes before it, or by the number of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The place of a row in a list that is ordered by time, and by id within the same time."""

    at: datetime
    id: UUID

    def __str__(self) -> str:
        """Return the position as it is written in a URL."""
        return f"{self.at.astimezone(UTC).isoformat().replace('+00:00', 'Z')}_{self.id}"


class Placed(Protocol):
    """A row of such a list."""

    @property
    def position(self) -> Position:
        """The place of the row in the list."""
        ...


Row = TypeVar("Row", bound=Placed)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRows(Generic[Row]):
    """A part of the rows that were found, in the order of their list.

    `total` is exact up to `COUNTED_MAX`, and one more than that beyond; `next` is where the list goes on, None at its
    end.
    """

    found: Sequence[Row]
    total: int
    next: Position | None


def found_rows(rows: Sequence[Row], *, after: Position | None, limit: int, count: Callable[..., int]) -> FoundRows[Row]:
    """Return the first rows, at most `limit`; one row more tells that the list goes on.

    `count` takes `counted_max` and counts all rows; it is not called where these are all.
    """
    listed = rows[:limit]
    total = len(rows) if after is None and len(rows) <= limit else count(counted_max=COUNTED_MAX + 1)
    return FoundRows(found=listed, total=total, next=listed[-1].position if len(rows) > limit else None)


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """A list as its reader may see it: a use case returns it that has authorized the reader and understood the filters.

    `page` takes `after` and `limit`, and `count` takes `counted_max`.
    """

    page: Callable[..., Sequence[Row]]
    count: Callable[..., int]

    def first(self, *, after: Position | None, limit: int) -> FoundRows[Row]:
        """Return the first rows after a position, and how many there are in all."""
        return found_rows(self.page(after=after, limit=limit + 1), after=after, limit=limit, count=self.count)


def listing(page: Callable[..., Sequence[Row]], count: Callable[..., int], *at: Any, **wanted: Any) -> Listing[Row]:
    """Return the list of what a port pages through and counts by the same values."""
    return Listing(partial(page, *at, **wanted), partial(count, *at, **wanted))


# Before every row.
BEGIN: Final = Position(at=datetime(1, 1, 2, tzinfo=UTC), id=UUID(int=0))


def position_of(text: str) -> Position | None:
    """Return the position that a text in an address names; None, the begin, when it is empty or damaged."""
    at, _, row_id = text.partition("_")
    try:
        moment = datetime.fromisoformat(at)
        position = Position(at=moment, id=UUID(row_id))
    except ValueError:
        return None
    # A time without a zone, or outside of what is stored, is not from a position of ours.
    return position if moment.tzinfo is not None and moment >= BEGIN.at else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination:
    """The position of a page in a list."""

    page: int
    limit: int
    total: int
    total_pages: int
    has_next: bool
    has_prev: bool

    @classmethod
    def of(cls, page: int, limit: int, total: int) -> Pagination:
        """Return the position of a page in a list of `total` items."""
        total_pages = -(-total // limit)
        return cls(
            page=page,
            limit=limit,
            total=total,
            total_pages=total_pages,
            has_next=page < total_pages,
            has_prev=page > 1,
        )
