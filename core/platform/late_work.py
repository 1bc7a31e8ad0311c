"""Work that waits, and for how long: what `gatehouse doctor` and the page of the system say, and what alerts measure.

Nothing is measured here in another way than for the gauges: `health_figures.py` has the ages, `polling.py` the times
from which on work is due. Added is what no gauge has: numbers, housekeeping, and the months of the logs.
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

# Housekeeping has every kind once in ten minutes, and drops months every hour: a day late is not the next pass.
UNSWEPT_AFTER: Final = timedelta(days=1)
# The mails of the last half hour, as the alert `GatehouseMailFails` looks at them, and the newest so many of them.
RECENT_MAILS: Final = timedelta(minutes=30)
RECENT_MAILS_MAX: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingWork:
    """What waits to be handed on, sent or received, counted no further than 10,001; times are of the oldest counted.

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
    """The newest mails that a mail server was asked to take, and those that wait since longer.

    `not_taken` are those that wait or have failed, `deferred` those that wait after an attempt; `last_error` is what
    the newest of them got.
    """

    attempted: int
    not_taken: int
    deferred: int
    last_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LateWork:
    """What waits, counted no further than 10,001, and what is late.

    `overdue` is for how long work has been due, by the names of its kinds; what is due later is not in it.
    `uncounted_seconds` is for how long the oldest sign-in could have been counted. `unswept` are the kinds with rows
    that should have been deleted a day ago, `missing` the logs without the coming month, `undropped` those with a month
    that should be gone. A log that has no month yet belongs to an installation that has not served yet.
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
    """Return what is late; each statement reads the beginnings of indexes, however much waits."""
    missing, undropped = log_months.late(uow, logs_kept_for, late_after=UNSWEPT_AFTER)
    ended_until = {
        leftover: uow.now - kept_for.get(leftover, leftover.kept_for) - UNSWEPT_AFTER for leftover in Leftover
    }
    # The age of the oldest entry without a seal is in the backlog.
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
