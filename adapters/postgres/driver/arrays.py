"""Arrays as PostgreSQL writes them.

The driver looks at each element of a list for what has to be quoted, which takes most of the time of a statement with
some hundred ids. What these functions return is sent as a text, and cast to its type in the statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID


def array_of(values: Iterable[UUID | int]) -> str:
    """Return an array of ids or numbers."""
    return "{" + ",".join(map(str, values)) + "}"


def array_of_times(times: Iterable[datetime]) -> str:
    """Return an array of times."""
    return "{" + ",".join([time.isoformat() for time in times]) + "}"
