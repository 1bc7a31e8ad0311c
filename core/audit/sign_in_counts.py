"""Sign-ins and active users by day: what plots show, counted in advance by an actor.

An actor adds new sign-ins of the log to the counts, each once. A page adds what is not counted yet from the log itself,
so that its numbers fit the present log (`sign_in_log.py` lists it). While the log is counted for the first time, pages
say up to when. A user is active on a day with a successful sign-in, and counts once in each window of seven and of
thirty days. Days are in UTC. The counts outlive the log and name no person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.support_access import Narrowing
from core.audit.analytics import Period
from core.ids import CLOCKS_DIFFER_MAX, SETTLES_AFTER, first_id_at, moment_of
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A page itself adds so much of the log; if counting is further behind, pages show only what is counted.
NEWER_MAX: Final = timedelta(days=1)
WEEK_DAYS: Final = 7
MONTH_DAYS: Final = 30
# Earlier activity is in no window that still changes.
DAYS_KEPT: Final = timedelta(days=MONTH_DAYS + 2)
# The periods of plots and the days of a bar in each: active users are known for these windows.
BAR_DAYS: Final[Mapping[int, int]] = {7: 1, 30: 1, 90: WEEK_DAYS, 365: MONTH_DAYS}
PERIOD_DAYS_DEFAULT: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInFilter:
    """The sign-ins to count or list; None means any. `service_id` is zero for sign-ins to no service.

    `address` is the network address and `email` the whole address of a person; the counts have neither.
    """

    succeeded: bool | None = None
    reason: str | None = None
    provider: str | None = None
    service_id: UUID | None = None
    address: str | None = None
    email: str | None = None
    since: date | None = None
    until: date | None = None

    @property
    def narrowing(self) -> Narrowing | None:
        """The person, the network or both to which the sign-ins are narrowed; None for all sign-ins."""
        if self.email is None and self.address is None:
            return None
        return Narrowing(text=self.email.strip().lower() if self.email else None, network=self.address)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInsOfDay:
    """The sign-ins of a day."""

    day: date
    succeeded: int
    refused: int

    @property
    def total(self) -> int:
        """The number of sign-ins, refused ones too."""
        return self.succeeded + self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalsOfReason:
    """How many sign-ins were refused for a reason, or were not completed."""

    reason: str
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInsByMethod:
    """The sign-ins with a provider, as the log names it."""

    provider: str
    succeeded: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInsToService:
    """The sign-ins to a service; the id is zero for sign-ins to no service, the name None for a deleted one."""

    service_id: UUID
    name: str | None
    succeeded: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInFigures:
    """The sign-ins of a period, grouped in several ways, without empty groups.

    Days are in order; elsewhere the largest number comes first.
    """

    days: Sequence[SignInsOfDay]
    reasons: Sequence[RefusalsOfReason]
    methods: Sequence[SignInsByMethod]
    services: Sequence[SignInsToService]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveUsers:
    """How many users signed in on a day, in the seven days that end with it, and in the thirty."""

    day: date
    users: int
    week: int
    month: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How far the log is counted. `until` is None before the first count.

    When it is complete, each page adds the newer sign-ins, which are those from `newer_since` on.
    """

    until: datetime | None
    is_complete: bool

    @property
    def newer_since(self) -> datetime | None:
        """The time since which sign-ins may not be counted; None when pages leave them out."""
        return self.until - CLOCKS_DIFFER_MAX if self.until is not None and self.is_complete else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAnalytics:
    """The plots of a period; `days` and `active` have each of its days. `log_since` is when the log begins."""

    period: Period
    counting: Counting
    days: Sequence[SignInsOfDay]
    figures: SignInFigures
    active: Sequence[ActiveUsers]
    log_since: datetime | None

    @property
    def succeeded(self) -> int:
        """How many sign-ins succeeded in the period."""
        return sum(one.succeeded for one in self.days)

    @property
    def refused(self) -> int:
        """How many were refused in the period."""
        return sum(one.refused for one in self.days)

    @property
    def now_active(self) -> ActiveUsers:
        """The active users of the last day."""
        return self.active[-1]


def count_next(uow: UnitOfWork, limit: int) -> int:
    """Count the next sign-ins of the log, at most `limit`; return how many."""
    return uow.sign_in_counts.count_next(first_id_at(uow.now - SETTLES_AFTER), limit)


def forget_days(uow: UnitOfWork, limit: int) -> int:
    """Delete the days of active users that no count needs any more, at most `limit` rows; return how many."""
    until = counting(uow).until
    return uow.sign_in_counts.forget_days(until.date() - DAYS_KEPT, limit) if until is not None else 0


def counting(uow: UnitOfWork) -> Counting:
    """Return how far the log is counted."""
    through = uow.elsewhere.sign_in_counts.counted_through()
    until = moment_of(through) if through is not None else None
    return Counting(until=until, is_complete=until is not None and uow.now - until <= NEWER_MAX)


def show(uow: UnitOfWork, slug: str, days: int) -> SignInAnalytics:
    """Return the plots of an organization for the last days."""
    return of_organization(uow, authorize(uow, slug, Operation.ANALYTICS_READ).organization.id, days)


def of_organization(uow: UnitOfWork, organization_id: UUID | None, days: int) -> SignInAnalytics:
    """Return the plots of an organization, None for all, for the last days; the caller may see them."""
    today = uow.now.date()
    period = Period(start=today - timedelta(days=days - 1), end=today)
    state = counting(uow)
    figures = uow.elsewhere.sign_in_counts.figures(organization_id, period, state.newer_since)
    by_day = {one.day: one for one in figures.days}
    return SignInAnalytics(
        period=period,
        counting=state,
        days=[by_day.get(day) or SignInsOfDay(day=day, succeeded=0, refused=0) for day in days_of(period)],
        figures=figures,
        active=uow.elsewhere.sign_in_counts.active_users(organization_id, period, state.newer_since),
        log_since=uow.elsewhere.sign_in_counts.first_at(organization_id),
    )


def days_of(period: Period) -> list[date]:
    """Return the days of a period in order."""
    return [period.start + timedelta(days=index) for index in range((period.end - period.start).days + 1)]


def bars_of(period: Period, days: int) -> list[Period]:
    """Return the parts of a period with `days` days each, in order; the first one may have fewer."""
    parts: list[Period] = []
    end = period.end
    while end >= period.start:
        start = max(period.start, end - timedelta(days=days - 1))
        parts.append(Period(start=start, end=end))
        end = start - timedelta(days=1)
    return parts[::-1]
