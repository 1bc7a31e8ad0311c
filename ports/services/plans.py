"""Storage of plans."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.services.plans import CountedPlan, Plan
from core.services.services import Service


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

    def by_billing_price(self, billing_price_id: str) -> Plan | None:
        """Return the plan that a price of the payment provider belongs to; None when there is none."""
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
