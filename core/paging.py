"""The position of a page in a list that is read by page numbers."""

from __future__ import annotations

from core.lazy_dataclasses import dataclass


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
