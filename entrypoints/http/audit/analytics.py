"""How people sign in to an organization, in figures."""

from datetime import date
from typing import Annotated

import msgspec

from core.audit import analytics
from core.audit.analytics import (
    RECENT_LOGINS_DEFAULT,
    RECENT_LOGINS_MAX,
    DailyLogins,
    ProviderLogins,
    RecentLogin,
    ServiceLogins,
)
from core.organizations.access import Operation
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "analytics",
    "How people sign in to an organization. Only successful sign-ins count; days are in UTC, and a period includes its"
    " first and its last day.",
)


class Days(Query, kw_only=True):
    """The first and the last day, as YYYY-MM-DD; from 30 days ago to today by default."""

    start_date: date | None = None
    end_date: date | None = None


class Latest(Query, kw_only=True):
    """How many to list."""

    limit: Annotated[int, msgspec.Meta(ge=1)] = RECENT_LOGINS_DEFAULT

    def __post_init__(self) -> None:
        self.limit = min(self.limit, RECENT_LOGINS_MAX)


@routes.get("/api/organizations/:org_slug/analytics/login-trends")
@in_organization(Operation.ANALYTICS_READ)
async def login_trends(call: Call, org_slug: str, query: Days) -> list[DailyLogins]:
    """Count the sign-ins of each day; days without any are left out."""
    return list(await call.read(analytics.login_trends, org_slug, query.start_date, query.end_date))


@routes.get("/api/organizations/:org_slug/analytics/logins-by-service")
@in_organization(Operation.ANALYTICS_READ)
async def logins_by_service(call: Call, org_slug: str, query: Days) -> list[ServiceLogins]:
    """Count the sign-ins to each service, the most used first."""
    return list(await call.read(analytics.logins_by_service, org_slug, query.start_date, query.end_date))


@routes.get("/api/organizations/:org_slug/analytics/logins-by-provider")
@in_organization(Operation.ANALYTICS_READ)
async def logins_by_provider(call: Call, org_slug: str, query: Days) -> list[ProviderLogins]:
    """Count the sign-ins of each sign-in method, the most used first."""
    return list(await call.read(analytics.logins_by_provider, org_slug, query.start_date, query.end_date))


@routes.get("/api/organizations/:org_slug/analytics/recent-logins")
@in_organization(Operation.ANALYTICS_READ)
async def recent_logins(call: Call, org_slug: str, query: Latest) -> list[RecentLogin]:
    """List the latest sign-ins, newest first; `limit` is lowered to 10,000."""
    return list(await call.read(analytics.recent_logins, org_slug, query.limit))
