"""PostgreSQL's statistics of the tables: without them, its planner guesses, and statements read too much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# For a smaller table a wrong guess costs little.
TABLE_BYTES_MIN: Final = 1024**2


def missing(uow: UnitOfWork) -> Sequence[str]:
    """Return the tables and partitions without statistics, the largest first."""
    return uow.system.tables_without_statistics(TABLE_BYTES_MIN)
