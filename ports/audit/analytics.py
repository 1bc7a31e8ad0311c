"""Counts and lists of the sign-ins to an organization."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.audit.analytics import DailyLogins, Period, ProviderLogins, RecentLogin, ServiceLogins


class Analytics(Protocol):
    """The successful sign-ins in the context of an organization; days are in UTC."""

    def by_day(self, organization_id: UUID, period: Period) -> Sequence[DailyLogins]:
        """Count the sign-ins of each day that had any, in chronological order."""
        ...

    def by_service(self, organization_id: UUID, period: Period) -> Sequence[ServiceLogins]:
        """Count the sign-ins to each service that had any, the most used first."""
        ...

    def by_provider(self, organization_id: UUID, period: Period) -> Sequence[ProviderLogins]:
        """Count the sign-ins by each provider that was used, the most used first."""
        ...

    def recent(self, organization_id: UUID, limit: int) -> Sequence[RecentLogin]:
        """List the latest sign-ins, newest first."""
        ...
