"""The logs that are kept by month: each month is a partition, made before it begins and dropped with all its rows.

The ids of their rows are UUIDv7, which begin with the time, so a month is a range of ids. Rows from before a log was
partitioned are one partition. Rows without a partition go to one that is normally empty, so that no write fails when a
month is missing; they move when their month is made.

A log that grows with every request is kept so (ops/decisions/0045-logs-by-month.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.ids import FIRST_ID, first_id_at
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.platform.retention import Retention
from core.webhooks import events

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Beside the present month. With fewer left, making them has failed for weeks.
MONTHS_AHEAD: Final = 3


class Log(Enum):
    """A log, how long its rows are kept, and whether a month is dropped although it has rows.

    Otherwise housekeeping deletes the rows to the day (`Leftover`), and the month goes when it is empty.
    """

    AUDIT_ENTRIES = ("audit_entries", None, False)
    MAILS = ("mails", mail.RETENTION, False)
    SCIM_LOG_ENTRIES = ("scim_log_entries", Retention.PROVISIONING_LOG, False)
    # Its months go only after they are counted.
    LOGIN_EVENTS = ("login_events", Retention.LOGIN_EVENTS, True)
    EVENTS = ("events", events.RETENTION, False)
    WEBHOOK_DELIVERIES = ("webhook_deliveries", Retention.DELIVERIES, False)
    # Attempts are deleted with their deliveries; attempts that an older version has left go with their month.
    WEBHOOK_ATTEMPTS = ("webhook_attempts", Retention.DELIVERIES, True)

    kept_for: timedelta | None
    """None for ever."""
    retention: Retention | None
    """What the operator may set; None for a fixed time."""
    goes_whole: bool

    def __new__(cls, value: str, kept_for: Retention | timedelta | None, goes_whole: bool) -> Log:  # noqa: FBT001 - the members are tuples
        member = object.__new__(cls)
        member._value_ = value
        member.retention = kept_for if isinstance(kept_for, Retention) else None
        member.kept_for = kept_for.default if isinstance(kept_for, Retention) else kept_for
        member.goes_whole = goes_whole
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPartition:
    """A partition of a log, by its ids; `first_id` is None for the rows from before there were months."""

    log: Log
    first_id: UUID | None
    end_id: UUID


def months(today: date) -> Sequence[date]:
    """Return the first days of this month and of the months ahead."""
    first = today.year * 12 + today.month - 1
    return [date(month // 12, month % 12 + 1, 1) for month in range(first, first + MONTHS_AHEAD + 1)]


def make_next(uow: UnitOfWork, log: Log) -> date | None:
    """Make the first missing month, and return it; None when all are there."""
    return next((month for month in months(uow.now.date()) if uow.log_months.add(log, month)), None)


def drop_next(uow: UnitOfWork, log: Log, kept_for: timedelta | None) -> str | None:
    """Drop the oldest partition whose time is over, and return its name; None when there is none."""
    if kept_for is None:
        return None
    before = first_id_at(uow.now - kept_for)
    if log is Log.LOGIN_EVENTS:
        # The counts for plots and totals come first.
        before = min(before, uow.sign_in_counts.counted_through() or FIRST_ID)
    return uow.log_months.drop(log, before, only_empty=not log.goes_whole)


def with_strays(uow: UnitOfWork) -> Sequence[Log]:
    """Return the logs that have rows without a month."""
    return [log for log in Log if uow.log_months.has_strays(log)]


def late(
    uow: UnitOfWork, kept_for: Mapping[Log, timedelta], *, late_after: timedelta
) -> tuple[Sequence[Log], Sequence[Log]]:
    """Return the logs without the coming month, and the logs with a month that should have been gone for so long.

    A log without any month belongs to an installation that has not served yet. Months that go only when they are empty
    do not count, because housekeeping deletes their rows.
    """
    after_next = months(uow.now.date())[2]
    end_of_next = first_id_at(datetime.combine(after_next, time(), UTC))
    missing: list[Log] = []
    undropped: list[Log] = []
    partitions = uow.log_months.partitions()
    for log in Log:
        of_log = [one for one in partitions if one.log is log]
        began = [one for one in of_log if one.first_id is not None]
        if began and max(one.end_id for one in of_log) < end_of_next:
            missing.append(log)
        kept = kept_for.get(log, log.kept_for)
        if log.goes_whole and kept is not None:
            before = first_id_at(uow.now - kept - late_after)
            if any(one.end_id <= before for one in began):
                undropped.append(log)
    return missing, undropped
