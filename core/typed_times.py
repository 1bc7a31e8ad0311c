"""Days and times that people type into the filters of lists."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from core.errors import BadRequest

_NOT_A_TIME: Final = "Give a day or a time, such as 2026-02-03 or 2026-02-03 04:05."


def time_of(field: str, typed: str) -> datetime:
    """Return a day or a time that was typed, without a zone in UTC; raise `BadRequest` when it is none."""
    try:
        moment = datetime.fromisoformat(typed.strip())
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRequest.of_field(field, _NOT_A_TIME) from None
