"""What the overview of an organization shows."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.overview import Attention, SetupSteps


class Overviews(Protocol):
    """Reads of the overview; none of them reads a large table whole."""

    def steps(self, organization_id: UUID, user_id: UUID) -> SetupSteps:
        """Return what an organization has set up, and whether one of its members has a second factor."""
        ...

    def attention(self, organization_id: UUID, *, since: datetime) -> Attention:
        """Return what fails now, and the number of active webhooks with a delivery that has failed since a time."""
        ...
