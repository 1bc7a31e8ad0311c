"""Storage of the sales of organizations."""

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

        All days before `since` are summed up as the day before; the sums of plans leave out what began or ended then.
        """
        ...

    def first_day(self, organization_id: UUID) -> date | None:
        """Return the first day with a change; None when there is none."""
        ...

    def names(self, organization_id: UUID) -> SoldNames:
        """Return the names of the plans and services of an organization."""
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
        """Count changes, up to `counted_max`."""
        ...

    def totals(self) -> Mapping[str, Sold]:
        """Return the sales of all organizations by currency, of the hundred currencies with most subscriptions."""
        ...

    def sellers(self, currency: str, *, after: tuple[int, UUID] | None, limit: int) -> Sequence[Seller]:
        """Return the organizations with sales in a currency, those with the most first."""
        ...

    def has_new(self) -> bool:
        """Return whether changes wait to be added to the sums; it is one statement."""
        ...

    def add_up(self, limit: int) -> int:
        """Add at most `limit` waiting changes to the sums; return how many. One process at a time does it."""
        ...
