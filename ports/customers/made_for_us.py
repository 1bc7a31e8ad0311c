"""Reading the things that vendors have made for an organization."""

from typing import Protocol
from uuid import UUID

from core.customers.made_for_us import MadeThingsPage, ThingForUs


class MadeForUs(Protocol):
    """The things that vendors have made for their customers: they lie in the customers' internal organizations."""

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> MadeThingsPage:
        """Return a page of these things, by vendor, service and kind, without setup links that have expired."""
        ...

    def find(self, organization_id: UUID, thing_id: UUID) -> ThingForUs | None:
        """Return one of these things; None when there is none with that id."""
        ...

    def own_group(self, organization_id: UUID, name: str) -> UUID | None:
        """Return the group of the organization's own directory with a name, in any case; None without one."""
        ...
