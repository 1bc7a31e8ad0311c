"""The storage of what organizations sell."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.services.sales import ChangeFilter, Seller, Sold, SoldNames, SoldSums, SubscriptionChange


class SalesBook(Protocol):
    """Recorded changes of subscriptions, and their sums by day."""

    def sums(self, organization_id: UUID, *, since: date, until: date) -> SoldSums:
        """Return the sums of each day from `since` to `until`, and of each plan up to `until`.

        All days before `since` are the day before; no sum of a plan has what has begun or ended then.
        """
        ...

    def first_day(self, organization_id: UUID) -> date | None:
        """Return the first day with a change; None when there is none."""
        ...

    def names(self, organization_id: UUID) -> SoldNames:
        """Return how the plans and services of an organization are called."""
        ...

    def has_plans(self, organization_id: UUID) -> bool:
        """Return whether a service of the organization has a plan besides its default one."""
        ...

    def changes(
        self, organization_id: UUID, wanted: ChangeFilter, *, after: Position | None, limit: int
    ) -> Sequence[SubscriptionChange]:
        """Return changes, newest first."""
        ...

    def count_changes(self, organization_id: UUID, wanted: ChangeFilter, *, counted_max: int) -> int:
        """Count changes, at most so many."""
        ...

    def totals(self) -> Mapping[str, Sold]:
        """Return what all organizations sell, by currency: the hundred with most subscriptions, the most first."""
        ...

    def sellers(self, currency: str, *, after: tuple[int, UUID] | None, limit: int) -> Sequence[Seller]:
        """Return the organizations that sell in a currency, those that sell most first."""
        ...

    def has_new(self) -> bool:
        """Return whether changes wait to be added up; it is one statement."""
        ...

    def add_up(self, limit: int) -> int:
        """Add changes up that are not yet, at most so many; return how many. One process at a time does it."""
        ...
