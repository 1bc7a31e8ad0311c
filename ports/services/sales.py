"""What a service sells: plans, subscriptions, figures of sales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.services.plans import CountedPlan, Plan
from core.services.sales import ChangeFilter, Seller, Sold, SoldNames, SoldSums, SubscriptionChange
from core.services.services import Service
from core.services.subscriptions import ListedSubscription, Subscription, SubscriptionFilter


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


class Plans(Protocol):
    """The plans of services."""

    def of_service(self, service: Service) -> Sequence[CountedPlan]:
        """List the plans of a service with their numbers of live subscriptions, the oldest first."""
        ...

    def page(self, service: Service, *, part: str, after: Position | None, limit: int) -> Sequence[CountedPlan]:
        """Return plans of a service with a part in their name, the oldest first, after a position.

        Their live subscriptions are counted up to one more than `COUNTED_MAX`.
        """
        ...

    def count_found(self, service: Service, *, part: str, counted_max: int) -> int:
        """Count the plans of a service with a part in their name, up to `counted_max`."""
        ...

    def subscriptions(self, plan: Plan, *, counted_max: int) -> tuple[int, int]:
        """Return how many live and how many ended subscriptions a plan has, each counted up to `counted_max`."""
        ...

    def count(self, service: Service) -> int:
        """Count the plans of a service."""
        ...

    def find(self, organization_id: UUID, service_id: UUID, plan_id: UUID) -> Plan | None:
        """Return a plan of a service; None when the service has none with that id."""
        ...

    def find_in_organization(self, organization_id: UUID, plan_id: UUID) -> Plan | None:
        """Return a plan of any service of an organization; None when it has none with that id."""
        ...

    def lock(self, service: Service, plan_id: UUID) -> Plan | None:
        """Return a plan, locked so that no one can subscribe to it until this transaction ends; None without one."""
        ...

    def add(self, plan: Plan) -> bool:
        """Store a new plan; False when another plan has its price, also from a concurrent transaction."""
        ...

    def save(self, plan: Plan) -> bool:
        """Store the new state of a plan; False when another plan has its price, also from a concurrent transaction."""
        ...

    def remove(self, plan: Plan) -> None:
        """Delete a locked plan that has no live subscriptions, with its ended ones."""
        ...


class Subscriptions(Protocol):
    """Subscriptions of end users to plans; a constraint ensures that a user has one live one to a service."""

    def current(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Subscription | None:
        """Return a user's subscription to a service: the live one, else the newest; None without one."""
        ...

    def lock_current(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Subscription | None:
        """Return what `current` returns, locked until this transaction ends."""
        ...

    def add(self, subscription: Subscription) -> bool:
        """Store a new subscription; False when its user has a live one or its billing id is known.

        Subscriptions of concurrent transactions count too.
        """
        ...

    def save(self, subscription: Subscription, *, becomes_live: bool) -> bool:
        """Store the new state of a locked subscription; False when it becomes live beside another live one."""
        ...

    def are_live_of_plan(self, plan: Plan) -> bool:
        """Return whether a plan has live subscriptions."""
        ...

    def are_live_of_service(self, organization_id: UUID, service_id: UUID) -> bool:
        """Return whether a service has live subscriptions."""
        ...


class FoundSubscriptions(Protocol):
    """Subscriptions to the services of an organization."""

    def page(
        self, organization_id: UUID, wanted: SubscriptionFilter, *, after: Position | None, limit: int
    ) -> Sequence[ListedSubscription]:
        """Return subscriptions, the newest first."""
        ...

    def count(self, organization_id: UUID, wanted: SubscriptionFilter, *, counted_max: int) -> int:
        """Count subscriptions, up to `counted_max`."""
        ...

    def find(self, organization_id: UUID, subscription_id: UUID) -> ListedSubscription | None:
        """Return a subscription to a service of this organization; None when there is none."""
        ...
