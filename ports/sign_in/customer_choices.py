"""Storage of the people who have signed in to services for customers."""

from datetime import datetime
from typing import Protocol
from uuid import UUID


class CustomerVisits(Protocol):
    """The users of services for customers; a visit ends with the membership and with the customer."""

    def record(self, customer_id: UUID, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Record that a user signs in for a customer, unless the membership or admission has ended meanwhile.

        The organization is the one of the membership or of the admission (`CustomerStanding.lets_in_by`).
        """
        ...

    def record_use(self, customer_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Record that a user uses the service for a customer in this month, unless that is recorded already."""
        ...
