"""Which rows of a log are of the times that are asked for, as `core/log_times.py` says, or are shown at all, in SQL.

A statement on sign-ins or second factors names the range of the shown ids beside its conditions, so that PostgreSQL
reads the months of that range alone; and older entries are shown nowhere, so that no number changes when their month is
dropped.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.ids import end_id_until, first_id_at
from core.limits import SIGN_INS_KEPT_FOR
from core.log_times import LogTimes

# Beside a range of ids, which has the index.
IN_TIMES: Final = """
    (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
"""
# A statement that counts a log looks at so much of it at once, so that it is planned for a month or two.
COUNTED_AT_ONCE: Final = timedelta(days=31)


def values_of(times: LogTimes) -> dict[str, UUID | datetime | None]:
    """Return the values of `IN_TIMES`, and the ids around them: `first_id`, and `before_id` above all."""
    return {"since": times.since, "until": times.until, "first_id": times.first_id, "before_id": times.end_id}


def first_kept_id(now: datetime) -> UUID:
    """Return the lowest id of the shown entries."""
    return first_id_at(now - SIGN_INS_KEPT_FOR)


def kept_values(now: datetime) -> dict[str, UUID]:
    """Return both ends of the range: `kept_id`, and `now_id`, which is above all of it."""
    return {"kept_id": first_kept_id(now), "now_id": end_id_until(now)}
