"""The people of a customer, and what a vendor is told of them."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.customers.people import ChangedPerson, CustomerPeoplePage, CustomerPerson, PeopleSought
from core.customers.people_events import PersonEventBatch
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


class PeopleEvents(Protocol):
    """The people whose changes vendors may have to learn of; triggers record them."""

    def check(self, people_max: int, *, last_turn: UUID | None) -> PersonEventBatch | None:
        """Compare recorded people with what their vendors were last told; return the differences, stored as told.

        The organizations after `last_turn` come first, in the order of their ids. A change that concerns more than
        `people_max` is continued in a later turn. None when nothing waits, and while another transaction does the same.
        """
        ...
