"""How users sign in to an organization: counts by day, service and provider, and the latest sign-ins.

Only successful sign-ins in the context of the organization count. They are recorded by `core/sign_in/login_events.py`;
days are in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PERIOD_DEFAULT: Final = timedelta(days=30)
RECENT_LOGINS_DEFAULT: Final = 10
# So many take 1.5 MB and are read in about 30 ms.
RECENT_LOGINS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A range of days, both ends included."""

    start: date
    end: date


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyLogins:
    """The number of sign-ins on a day."""

    date: date
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLogins:
    """The number of sign-ins to a service."""

    service_id: UUID
    service_name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLogins:
    """The number of sign-ins with a provider: `password`, `passkey`, `magic_link`, `saml` or an external provider."""

    provider: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentLogin:
    """One sign-in; `service_id` is null if it was to the organization itself."""

    id: UUID
    user_id: UUID
    service_id: UUID | None
    provider: str
    created_at: datetime


def login_trends(uow: UnitOfWork, slug: str, start: date | None, end: date | None) -> Sequence[DailyLogins]:
    """Count the sign-ins of each day that had any, in chronological order."""
    organization_id, period = _authorized(uow, slug, start, end)
    return uow.elsewhere.analytics.by_day(organization_id, period)


def logins_by_service(uow: UnitOfWork, slug: str, start: date | None, end: date | None) -> Sequence[ServiceLogins]:
    """Count the sign-ins to each service that had any, the most used first."""
    organization_id, period = _authorized(uow, slug, start, end)
    return uow.elsewhere.analytics.by_service(organization_id, period)


def logins_by_provider(uow: UnitOfWork, slug: str, start: date | None, end: date | None) -> Sequence[ProviderLogins]:
    """Count the sign-ins with each provider that was used, the most used first."""
    organization_id, period = _authorized(uow, slug, start, end)
    return uow.elsewhere.analytics.by_provider(organization_id, period)


def recent_logins(uow: UnitOfWork, slug: str, limit: int) -> Sequence[RecentLogin]:
    """List the latest sign-ins, newest first."""
    organization = authorize(uow, slug, Operation.ANALYTICS_READ).organization
    return uow.elsewhere.analytics.recent(organization.id, limit)


def _authorized(uow: UnitOfWork, slug: str, start: date | None, end: date | None) -> tuple[UUID, Period]:
    """Authorize the caller; return the organization and the requested period."""
    organization = authorize(uow, slug, Operation.ANALYTICS_READ).organization
    today = uow.now.date()
    period = Period(start=start or today - PERIOD_DEFAULT, end=end or today)
    if period.start > period.end:
        raise BadRequest.of_field(
            "start_date", Wording("%(start)s is after the end_date, %(end)s.", start=period.start, end=period.end)
        )
    return organization.id, period
