"""What an organization sells: its subscriptions by day, and each change of them.

Triggers of the database record every change, and an actor adds them up by day. A page reads the days, and the changes
that are not added up yet. Prices are monthly, like plans; amounts of several currencies are never added. Days are UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_support
from core.positions import Listing, Position

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_DAY: Final = timedelta(days=1)


class ChangeKind(StrEnum):
    """What changed of a subscription, or of all subscriptions to a plan."""

    BEGUN = "begun"
    ENDED = "ended"
    # To another plan: into the new one, and out of the old one.
    MOVED_IN = "moved_in"
    MOVED_OUT = "moved_out"
    LATE = "late"
    SETTLED = "settled"
    PRICED = "priced"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoldDay:
    """The changes in a currency on a day, added up; all changes before a period stand on the day before it begins."""

    day: date
    currency: str
    begun: int
    ended: int
    live: int
    late: int
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSums:
    """All changes of a plan in a currency, added up; `begun` and `ended` concern a period."""

    service_id: UUID
    plan_id: UUID
    currency: str
    begun: int
    ended: int
    live: int
    late: int
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SoldSums:
    """The changes of what an organization sells, added up by day and by plan."""

    days: Sequence[SoldDay]
    plans: Sequence[PlanSums]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sold:
    """What is sold at one moment: live subscriptions, how many of them are overdue, and their monthly price."""

    live: int = 0
    late: int = 0
    cents: int = 0

    def after(self, one: SoldDay | PlanSums) -> Sold:
        """Return what is sold after these changes."""
        return Sold(live=self.live + one.live, late=self.late + one.late, cents=self.cents + one.cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoldPlan:
    """What is sold of a plan; the names are None for a deleted plan, and `begun` and `ended` concern the period."""

    service_id: UUID
    plan_id: UUID
    service_name: str | None
    service_slug: str | None
    plan_name: str | None
    currency: str
    sold: Sold
    begun: int
    ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sales:
    """What an organization sells, and how it changed within a period.

    `since` is the first counted day, None for none. `by_day` has for each currency what was sold at the end of each day
    of `days`.
    """

    since: date | None
    days: Sequence[date]
    begun: Mapping[date, int]
    ended: Mapping[date, int]
    by_day: Mapping[str, Sequence[Sold]]
    plans: Sequence[SoldPlan]

    @property
    def now(self) -> Mapping[str, Sold]:
        """What is sold now, by currency."""
        return {currency: series[-1] for currency, series in self.by_day.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class SoldNames:
    """The names of the plans of an organization, and of its services with their slugs; a deleted one has no name."""

    plans: Mapping[UUID, str]
    services: Mapping[UUID, tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilter:
    """The wanted changes; None filters nothing. `since` and `until` are the first and last day."""

    kind: ChangeKind | None = None
    since: date | None = None
    until: date | None = None
    service_id: UUID | None = None
    plan_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionChange:
    """A change; `email` is None for a new price, for a former user, and where the reader does not see end users."""

    id: UUID
    at: datetime
    kind: ChangeKind
    user_id: UUID | None
    email: str | None
    service_id: UUID
    plan_id: UUID
    service_name: str | None
    service_slug: str | None
    plan_name: str | None
    live: int
    cents: int
    currency: str

    @property
    def position(self) -> Position:
        """The place of the change in the list."""
        return Position(at=self.at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seller:
    """An organization that sells in a currency, and what it sells."""

    id: UUID
    slug: str
    name: str
    sold: Sold


@dataclass(frozen=True, slots=True, kw_only=True)
class Revenue:
    """What the organizations of the platform sell in a currency: all together, and the ones that sell most.

    `currencies` are all currencies of sales.
    """

    currency: str
    currencies: Sequence[str]
    sold: Sold
    sellers: Sequence[Seller] = field(default_factory=list[Seller])
    next: tuple[int, UUID] | None = None


def show(uow: UnitOfWork, slug: str, *, days: int) -> Sales:
    """Return what an organization sells, over so many days that end today."""
    organization_id = authorize(uow, slug, Operation.BILLING_READ).organization.id
    today = uow.now.date()
    period = [today - _DAY * number for number in reversed(range(days))]
    # Changes of tomorrow, by a process whose clock is ahead, count from that day on.
    sums = uow.elsewhere.sales.sums(organization_id, since=period[0], until=today)
    names = uow.elsewhere.sales.names(organization_id)
    return sales_of(sums, names, period, since=uow.elsewhere.sales.first_day(organization_id))


def changes(uow: UnitOfWork, slug: str, wanted: ChangeFilter) -> Listing[SubscriptionChange]:
    """List the changes of what an organization sells, newest first."""
    authorized = authorize(uow, slug, Operation.BILLING_READ)
    organization_id = authorized.organization.id

    def page(**part: Any) -> Sequence[SubscriptionChange]:
        return _told(authorized, uow.elsewhere.sales.changes(organization_id, wanted, **part))

    return Listing(page, partial(uow.elsewhere.sales.count_changes, organization_id, wanted))


def names(uow: UnitOfWork, slug: str) -> SoldNames:
    """Return the names of the plans and services of an organization."""
    return uow.elsewhere.sales.names(authorize(uow, slug, Operation.BILLING_READ).organization.id)


def revenue(uow: UnitOfWork, *, currency: str, after: tuple[int, UUID] | None, limit: int) -> Revenue:
    """Return what the organizations of the platform sell in a currency, the ones that sell most first.

    Without a currency of sales, it is the one with most subscriptions.
    """
    authorize_support(uow)
    totals = uow.elsewhere.sales.totals()
    chosen = currency if currency in totals else next(iter(totals), "")
    found = uow.elsewhere.sales.sellers(chosen, after=after, limit=limit + 1)
    listed = found[:limit]
    return Revenue(
        currency=chosen,
        currencies=[*totals],
        sold=totals.get(chosen, Sold()),
        sellers=listed,
        next=(listed[-1].sold.cents, listed[-1].id) if len(found) > limit else None,
    )


def has_new(uow: UnitOfWork) -> bool:
    """Return whether recorded changes wait to be added up, in one statement."""
    return uow.sales.has_new()


def add_up(uow: UnitOfWork, limit: int) -> int:
    """Add at most `limit` recorded changes up by day; return how many there were."""
    return uow.sales.add_up(limit)


def sales_of(sums: SoldSums, names: SoldNames, period: Sequence[date], *, since: date | None) -> Sales:
    """Return the sales of a period from its sums; the sums before it are what was sold when it began."""
    begun, ended = dict.fromkeys(period, 0), dict.fromkeys(period, 0)
    changed = dict[tuple[str, date], SoldDay]()
    for one in sums.days:
        if one.day in begun:
            begun[one.day] += one.begun
            ended[one.day] += one.ended
        changed[one.currency, one.day] = one
    plans = [_plan(one, names) for one in sums.plans]
    return Sales(
        since=since,
        days=period,
        begun=begun,
        ended=ended,
        by_day={currency: _series(changed, currency, period) for currency in sorted({key for key, _ in changed})},
        plans=sorted(
            (plan for plan in plans if plan.sold != Sold() or plan.begun or plan.ended),
            key=lambda plan: (plan.currency, -plan.sold.cents, -plan.sold.live, plan.plan_name or ""),
        ),
    )


def _told(authorized: OrganizationAccess, found: Sequence[SubscriptionChange]) -> Sequence[SubscriptionChange]:
    """Return changes without the addresses of end users, if the reader does not see end users."""
    if Capability.END_USERS_VIEW in authorized.capabilities:
        return found
    return [replace(one, email=None) for one in found]


def _series(changed: Mapping[tuple[str, date], SoldDay], currency: str, period: Sequence[date]) -> Sequence[Sold]:
    sold, series = Sold(), list[Sold]()
    for day in (period[0] - _DAY, *period):
        one = changed.get((currency, day))
        sold = sold.after(one) if one is not None else sold
        series.append(sold)
    return series[1:]


def _plan(one: PlanSums, names: SoldNames) -> SoldPlan:
    service_name, service_slug = names.services.get(one.service_id, (None, None))
    return SoldPlan(
        service_id=one.service_id,
        plan_id=one.plan_id,
        service_name=service_name,
        service_slug=service_slug,
        plan_name=names.plans.get(one.plan_id),
        currency=one.currency,
        sold=Sold().after(one),
        begun=one.begun,
        ended=one.ended,
    )
