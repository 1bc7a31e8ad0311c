"""Port for reading the customer of an explained sign-in."""

from typing import Protocol
from uuid import UUID

from core.platform.explained_customers import CustomerOfUser
from core.services.services import Service


class ExplainedCustomers(Protocol):
    """The customers of services, and the standing of users at them."""

    def find(self, service: Service, customer: str, user_id: UUID) -> CustomerOfUser | None:
        """Return the customer of a service that has this id or slug; None when there is none. It locks nothing."""
        ...
