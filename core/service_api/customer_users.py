"""The people of the customers of a service, as the program of its vendor reads them and gives them roles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import people
from core.customers.people import CustomerPeoplePage, CustomerPerson, PeopleSought
from core.service_api import customers

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def list_page(uow: UnitOfWork, customer_id: UUID, sought: PeopleSought) -> CustomerPeoplePage:
    """List the people of a customer that the vendor sees, as `people.list_of` says."""
    return people.list_of(uow, customers.authorize(uow), customer_id, sought)


def set_roles(uow: UnitOfWork, customer_id: UUID, user_id: UUID, roles: Sequence[str]) -> CustomerPerson:
    """Replace the roles that the vendor gives a person who has signed in for a customer."""
    return people.set_roles(uow, customers.authorize_and_lock(uow), customer_id, user_id, roles)
