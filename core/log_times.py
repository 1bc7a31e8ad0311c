"""The times of a log that are asked for: `since` and `until` compare with the `created_at` that the log shows.

Each log has its rows in the order of their ids. An id begins with the time of its making, some milliseconds after the
time of the request, which is `created_at`; so the ids alone do not decide. They bound what is read, by the index of the
log: `first_id` and `end_id` lie around all rows of these times. Between `sure_first_id` and `sure_end_id` every row is
of these times, so only the rows at both ends are compared.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from core.errors import BadRequest, all_valid
from core.ids import FIRST_ID, LAST_ID, end_id_until, first_id_since, sure_end_id_until, sure_first_id_since
from core.lazy_dataclasses import dataclass

_NOT_A_TIME: Final = "Give a day or a time, such as 2026-02-03 or 2026-02-03 04:05."


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTimes:
    """The times from `since` on and before `until`; None means any."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def are_given(self) -> bool:
        """Whether any is given."""
        return self.since is not None or self.until is not None

    @property
    def first_id(self) -> UUID:
        """The lowest id that a row of these times can have."""
        return first_id_since(self.since) if self.since is not None else FIRST_ID

    @property
    def end_id(self) -> UUID:
        """An id above all those that rows of these times can have."""
        return end_id_until(self.until) if self.until is not None else LAST_ID

    @property
    def sure_first_id(self) -> UUID:
        """The lowest id from which on no row is of an earlier time."""
        return sure_first_id_since(self.since) if self.since is not None else FIRST_ID

    @property
    def sure_end_id(self) -> UUID:
        """The id below which no row is of a later time."""
        return sure_end_id_until(self.until) if self.until is not None else LAST_ID


def typed(since: str, until: str) -> LogTimes:
    """Return the times that a person has typed, without a zone in UTC, empty for any; raise `BadRequest` for others."""
    first, end = all_valid(
        lambda: time_of("since", since) if since.strip() else None,
        lambda: time_of("until", until) if until.strip() else None,
    )
    return LogTimes(since=first, until=end)


def time_of(field: str, typed: str) -> datetime:
    """Return a day or a time that was typed, without a zone in UTC; raise `BadRequest` when it is none."""
    try:
        moment = datetime.fromisoformat(typed.strip())
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRequest.of_field(field, _NOT_A_TIME) from None
