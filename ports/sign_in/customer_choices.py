"""Storage of who has come in to a service for a customer of it."""

from datetime import datetime
from typing import Protocol
from uuid import UUID


class CustomerVisits(Protocol):
    """The users of services for customers; a visit ends with the membership and with the customer."""

    def record(self, customer_id: UUID, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Store that a user signs in for a customer; nothing when what lets them in has ended meanwhile.

        The organization is that of the membership, or of the admission (`CustomerStanding.lets_in_by`).
        """
        ...

    def record_use(self, customer_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Store that a user uses the service for a customer in this month; nothing when that is stored already."""
        ...
