"""Storage of the organizations that were claimed with the power of a takeover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.organizations.takeover_claims import ClaimedCustomer
    from core.services.services import Service


class TakeoverClaims(Protocol):
    """Customers that vendors have made and people have claimed; the organizations are locked."""

    def claimed_at(self, organization_ids: Sequence[UUID], *, since: datetime) -> Mapping[UUID, datetime]:
        """Return which of these organizations were claimed since a moment, and when."""
        ...

    def claimed_by_link(self, service: Service, customer_id: UUID, *, mailed_at: datetime) -> UUID | None:
        """Return the organization of a customer that was claimed by the link of that moment; None for any other."""
        ...

    def customers_of(self, organization_id: UUID) -> list[ClaimedCustomer]:
        """Return the customers for which a vendor had made this organization, before it was claimed."""
        ...

    def move(self, customer: ClaimedCustomer, organization_id: UUID, new_id: UUID) -> None:
        """Move a customer to another, unowned organization, without the settings of the present one's owner."""
        ...
