"""Reading the customers that users have signed in for."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.own_customers import OwnCustomer


class OwnCustomers(Protocol):
    """Customers of services, by their people."""

    def of_user(self, vendor_id: UUID, service_id: UUID, user_id: UUID, *, limit: int) -> Sequence[OwnCustomer]:
        """Return the active customers of a service for which the user has signed in and still may, the latest first.

        Memberships that the user has not confirmed do not count.
        """
        ...
