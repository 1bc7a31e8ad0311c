"""Sign-ins and active users by day, counted in advance."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from core.audit.analytics import Period
from core.audit.sign_in_counts import ActiveUsers, SignInFigures, SignInFilter, SignInsOfDay


class SignInCounts(Protocol):
    """The counts of an organization; with None as its id, those of the whole platform. Days are in UTC.

    Sign-ins that are not counted yet are added from the log in the same snapshot, where `newer_since` is given: the
    time since which they happened. Without it, they are left out.
    """

    def count_next(self, before: UUID, limit: int) -> int:
        """Count the next login events with an id below this one, at most `limit`; return how many.

        Each is counted once. Return 0 also while another process counts.
        """
        ...

    def forget_days(self, before: date, limit: int) -> int:
        """Delete at most `limit` records of users' activity on days before this one; return how many."""
        ...

    def counted_through(self) -> UUID | None:
        """Return the id up to which login events are counted; None before the first time."""
        ...

    def first_uncounted(self, before: UUID) -> UUID | None:
        """Return the id of the first login event below this one that is not counted; None when there is none."""
        ...

    def figures(self, organization_id: UUID | None, period: Period, newer_since: datetime | None) -> SignInFigures:
        """Return the sign-ins of a period by day, reason, provider and service, without those that had none."""
        ...

    def active_users(
        self, organization_id: UUID | None, period: Period, newer_since: datetime | None
    ) -> Sequence[ActiveUsers]:
        """Return the active users of every day of the period, in chronological order."""
        ...

    def by_day(
        self, organization_id: UUID | None, asked: SignInFilter, newer_since: datetime | None
    ) -> Sequence[SignInsOfDay]:
        """Count the sign-ins that fit the filter on each day that has any, the latest day first."""
        ...

    def first_at(self, organization_id: UUID | None) -> datetime | None:
        """Return the time of the first sign-in that the log has; None when it has none."""
        ...
