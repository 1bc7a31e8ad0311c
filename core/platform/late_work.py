"""Work that waits, and for how long, for `gatehouse doctor`, the page of the system, and alerts.

The measures are those of the gauges: `health_figures.py` has the ages, `polling.py` the times since when work is due.
This module adds what no gauge has: numbers, housekeeping, and the months of the logs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from core.billing.provider import BillingMode
from core.ids import SETTLES_AFTER, first_id_at, moment_of
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.platform import health_figures, log_months, polling
from core.platform.health_figures import Backlog
from core.platform.housekeeping import Leftover
from core.platform.log_months import Log

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Housekeeping visits every kind once in ten minutes, and drops months every hour, so a day late is a failure.
UNSWEPT_AFTER: Final = timedelta(days=1)
# The mails of the last half hour, as in the alert `GatehouseMailFails`, and at most so many of the newest.
RECENT_MAILS: Final = timedelta(minutes=30)
RECENT_MAILS_MAX: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingWork:
    """Work that waits to be handed on, sent or received, counted up to 10,001; the times are of the oldest counted.

    A SIEM lags by the sealed entries of an audit log that it has not received. Cancellations are subscriptions that the
    payment provider has to end.
    """

    mails: int
    oldest_mail_at: datetime | None
    failed_mails: int
    events: int
    oldest_event_at: datetime | None
    deliveries: int
    running_jobs: int
    cancellations: int
    oldest_cancellation_at: datetime | None
    lagging_siems: int
    siem_lag_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentMails:
    """The newest mails with an attempt at a mail server, and older ones that wait.

    `not_taken` counts mails that wait or have failed, `deferred` mails that wait after an attempt; `last_error` is the
    error of the newest of them.
    """

    attempted: int
    not_taken: int
    deferred: int
    last_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LateWork:
    """What waits, counted up to 10,001, and what is late.

    `overdue` has how long work has been due, by the names of its kinds, without work that is due later.
    `uncounted_seconds` is how long the oldest uncounted sign-in has waited. `unswept` are the kinds with rows that
    should have been deleted a day ago, `missing` the logs without the coming month, and `undropped` the logs with a
    month that should be gone. A log without any month belongs to an installation that has not served yet.
    """

    read_at: datetime
    work: WaitingWork
    backlog: Backlog
    recent_mails: RecentMails
    overdue: Mapping[str, float]
    uncounted_seconds: float
    unswept: Sequence[Leftover]
    missing: Sequence[Log]
    undropped: Sequence[Log]


def read(
    uow: UnitOfWork,
    mode: BillingMode,
    kept_for: Mapping[Leftover, timedelta],
    logs_kept_for: Mapping[Log, timedelta],
) -> LateWork:
    """Return what is late; each statement reads only the beginnings of indexes, however much waits."""
    missing, undropped = log_months.late(uow, logs_kept_for, late_after=UNSWEPT_AFTER)
    ended_until = {
        leftover: uow.now - kept_for.get(leftover, leftover.kept_for) - UNSWEPT_AFTER for leftover in Leftover
    }
    # The backlog has the age of the oldest unsealed entry.
    due = polling.due(uow, mode, finds_seals=False)
    return LateWork(
        read_at=uow.now,
        work=uow.system.work(COUNTED_MAX + 1),
        backlog=health_figures.backlog(uow),
        recent_mails=uow.system.recent_mails(uow.now - RECENT_MAILS, RECENT_MAILS_MAX),
        overdue={work: (uow.now - due_at).total_seconds() for work, due_at in due.items() if due_at < uow.now},
        uncounted_seconds=_uncounted_seconds(uow),
        unswept=uow.housekeeping.overdue(ended_until),
        missing=missing,
        undropped=undropped,
    )


def _uncounted_seconds(uow: UnitOfWork) -> float:
    oldest = uow.sign_in_counts.first_uncounted(first_id_at(uow.now - SETTLES_AFTER))
    return (uow.now - SETTLES_AFTER - moment_of(oldest)).total_seconds() if oldest is not None else 0.0
