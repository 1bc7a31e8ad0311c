"""Storage of the people of customers, as the vendor sees them."""

from typing import Protocol
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.customers.people import ChangedPerson, CustomerPeoplePage, CustomerPerson, PeopleSought
from core.services.services import Service


class CustomerPeople(Protocol):
    """Confirmed members of customers of services, and the roles that the vendor gives them."""

    def page(self, service: Service, customer: ServiceCustomer, sought: PeopleSought) -> CustomerPeoplePage:
        """Return the people of a customer that the vendor sees, by their ids; the searched text is in lower case."""
        ...

    def find(self, service: Service, customer: ServiceCustomer, user_id: UUID) -> CustomerPerson | None:
        """Return a person who has signed in for a customer and is visible to the vendor; None for any other account."""
        ...

    def lock(self, service: Service, customer: ServiceCustomer, user_id: UUID) -> CustomerPerson | None:
        """Lock the roles that the vendor gives a confirmed member who has signed in for a customer; else return None.

        A member who may not use the service at present is returned too.
        """
        ...

    def set_roles(self, service: Service, customer: ServiceCustomer, user_id: UUID, roles: list[str]) -> ChangedPerson:
        """Store the roles that the vendor gives a locked person; the caller publishes the event for the vendor."""
        ...
