"""The people of the customers of a service, as the program of its vendor lists them.

The program manages the customers, and gives their people roles, by the same use cases as members (`core/customers/`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import customers, people
from core.customers.customers import OF_KEY
from core.customers.people import CustomerPeoplePage, PeopleSought
from core.organizations.access import Operation

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def list_people(uow: UnitOfWork, customer_id: UUID, sought: PeopleSought) -> CustomerPeoplePage:
    """List people of a customer, by their ids; raise `CustomerUnknown`, and `BadRequest` for an unknown role."""
    service = customers.authorize_reader(uow, OF_KEY, Operation.CUSTOMER_PEOPLE_READ)
    if sought.role is not None:
        people.require_roles(service, [sought.role], field="role")
    return people.of_customer(uow, service, customers.find(uow, service, customer_id), sought)
