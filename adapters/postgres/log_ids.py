"""The range of ids of the shown entries in the logs of sign-ins and of second factors.

A statement names it beside its conditions, so that PostgreSQL reads the months of that range alone; and older entries
are shown nowhere, so that no number changes when their month is dropped.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.ids import end_id_until, first_id_at
from core.limits import SIGN_INS_KEPT_FOR

# A statement that counts a log looks at so much of it at once, so that it is planned for a month or two.
COUNTED_AT_ONCE: Final = timedelta(days=31)


def first_kept_id(now: datetime) -> UUID:
    """Return the lowest id of the shown entries."""
    return first_id_at(now - SIGN_INS_KEPT_FOR)


def kept_values(now: datetime) -> dict[str, UUID]:
    """Return both ends of the range: `kept_id`, and `now_id`, which is above all of it."""
    return {"kept_id": first_kept_id(now), "now_id": end_id_until(now)}
