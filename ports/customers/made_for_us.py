"""Reading what vendors have made for an organization."""

from typing import Protocol
from uuid import UUID

from core.customers.made_for_us import MadeThingsPage, ThingForUs


class MadeForUs(Protocol):
    """What vendors have made for organizations that use their services, in the internal organizations of these."""

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> MadeThingsPage:
        """Return a part of what was made, by vendor, service and kind, without setup links that have expired."""
        ...

    def find(self, organization_id: UUID, thing_id: UUID) -> ThingForUs | None:
        """Return a thing of the same; None for any other."""
        ...

    def own_group(self, organization_id: UUID, name: str) -> UUID | None:
        """Return the group of the organization's own directory with a name, in any case; None without one."""
        ...
