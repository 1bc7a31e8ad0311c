"""Internal organizations: each has what a vendor has made for one customer of a service (ops/decisions/0113).

Connections, mail domains, SCIM tokens, groups and setup links always belong to an organization, and so do people that
a directory provisions or a connection admits. What a vendor makes for a customer belongs neither to the customer's
organization nor to the vendor's, so it gets an organization of its own, made with the first such thing. No person sees
it or acts in it: its members are the people that the customer record admits to the vendor's service, and are members of
nothing else. The database keeps it active while the customer may use the service, suspends it otherwise, and deletes it
with the customer record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.customers.customers import ServiceCustomer
from core.organizations import management
from core.organizations.organizations import INTERNAL_PREFIX, Organization

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def lock_or_add(uow: UnitOfWork, customer: ServiceCustomer) -> Organization:
    """Lock and return the internal organization of an active customer; the vendor's organization is locked already."""
    found = uow.organizations.lock_internal(customer.id)
    if found is not None:
        return found
    new = new_for(uow, customer)
    uow.organizations.add_internal(new, customer.id)
    added = uow.organizations.lock_internal(customer.id)
    assert added is not None, "an internal organization was stored, and is not there"
    return added


def new_for(uow: UnitOfWork, customer: ServiceCustomer) -> Organization:
    """Return the internal organization of a customer that has none yet; it is not stored."""
    return management.new_organization(uow, f"{INTERNAL_PREFIX}{customer.id}", customer.slug)
