"""The logs that are kept by month: each month is a partition, made before it begins and dropped with all its rows.

The ids of their rows are UUIDv7, which begin with the time, so a month is a range of ids. What was written before a log
was partitioned is one partition. Rows for which no partition is there go to one that is normally empty, so that nothing
is refused when no month was made; they move when their month is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from core.ids import first_id_at
from core.scim import log as scim_log
from core.webhooks import deliveries, events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.unit_of_work import UnitOfWork

# Beside the present month. With fewer than that many left, something has kept them from being made for weeks.
MONTHS_AHEAD: Final = 3


class Log(Enum):
    """A log, how long its rows are kept, and whether a month of them is dropped although it has rows.

    Where it is not, housekeeping deletes the rows to the day (`Leftover`), and the month goes when it is empty.
    """

    SCIM_LOG_ENTRIES = ("scim_log_entries", scim_log.RETENTION, False)
    EVENTS = ("events", events.RETENTION, False)
    WEBHOOK_DELIVERIES = ("webhook_deliveries", deliveries.RETENTION_DEFAULT, False)
    # Attempts are deleted with their deliveries.
    WEBHOOK_ATTEMPTS = ("webhook_attempts", deliveries.RETENTION_DEFAULT, False)

    kept_for: timedelta | None
    """None for ever."""
    goes_whole: bool

    def __new__(cls, value: str, kept_for: timedelta | None, goes_whole: bool) -> Log:  # noqa: FBT001 - as the members are written
        member = object.__new__(cls)
        member._value_ = value
        member.kept_for = kept_for
        member.goes_whole = goes_whole
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """How far the months of a log are made."""

    log: Log
    made_until: date | None
    """The first day for which no partition is there; None when there is none at all."""
    has_strays: bool
    """Whether it has rows for which no month was there."""


def months(today: date) -> Sequence[date]:
    """Return the first days of this month and of those ahead."""
    first = today.year * 12 + today.month - 1
    return [date(month // 12, month % 12 + 1, 1) for month in range(first, first + MONTHS_AHEAD + 1)]


def make_next(uow: UnitOfWork, log: Log) -> date | None:
    """Make the first month that is not there, and return it; None when all are there."""
    return next((month for month in months(uow.now.date()) if uow.log_months.add(log, month)), None)


def drop_next(uow: UnitOfWork, log: Log, kept_for: timedelta | None) -> str | None:
    """Drop the oldest partition of which nothing is kept any more, and return its name; None when there is none."""
    if kept_for is None:
        return None
    return uow.log_months.drop(log, first_id_at(uow.now - kept_for), only_empty=not log.goes_whole)


def states(uow: UnitOfWork) -> Sequence[LogState]:
    """Return how far the months of each log are made."""
    return [uow.log_months.state(log) for log in Log]


def problem_of(state: LogState, today: date) -> str | None:
    """Return what is wrong with the months of a log; None when nothing is."""
    if state.has_strays:
        return "has rows for which no month was made"
    if state.made_until is None or state.made_until < months(today)[2]:
        return f"has no month from {state.made_until} on"
    return None
