"""Which rows of a log are of the times that are asked for, as `core/log_times.py` says, in SQL."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from core.log_times import LogTimes

# Beside a range of ids, which has the index.
IN_TIMES: Final = """
    (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
"""


def values_of(times: LogTimes) -> dict[str, UUID | datetime | None]:
    """Return the values of `IN_TIMES`, and the ids around them: `first_id`, and `before_id` above all."""
    return {"since": times.since, "until": times.until, "first_id": times.first_id, "before_id": times.end_id}
