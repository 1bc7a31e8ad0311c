"""The customers of a service, as the program of its vendor manages them with an API key.

Members manage the same records by the same rules and limits (`core/customers/customers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.customers import claiming, customers, made_customers
from core.customers.customers import CustomersPage, ServiceCustomer, Vendor
from core.service_api import info
from core.services import api_keys
from core.services.api_keys import Permission

if TYPE_CHECKING:
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork


def list_page(uow: UnitOfWork, *, search: str, limit: int, offset: int) -> CustomersPage:
    """List the customers and open offers of the service of the key, the newest first."""
    return customers.list_of(uow, authorize(uow), search=search, limit=limit, offset=offset)


def offer(uow: UnitOfWork, *, organization: str, external_id: str | None) -> ServiceCustomer:
    """Offer the service of the key to the organization with a slug."""
    return customers.offer_by(uow, authorize_and_lock(uow), organization=organization, external_id=external_id)


def make(
    uow: UnitOfWork, *, name: str, external_id: str | None, owner_email: str | None, is_welcome: bool
) -> ServiceCustomer:
    """Make an organization for a customer of the service of the key."""
    vendor = authorize_and_lock(uow)
    return made_customers.create_by(
        uow, vendor, name=name, external_id=external_id, owner_email=owner_email, is_welcome=is_welcome
    )


def name_owner(uow: UnitOfWork, customer_id: UUID, *, email: str) -> ServiceCustomer:
    """Mail a link that makes its reader the owner of a customer's organization."""
    return claiming.name_owner_by(uow, authorize_and_lock(uow, Permission.SETUP_CUSTOMERS), customer_id, email=email)


def show(uow: UnitOfWork, customer_id: UUID) -> ServiceCustomer:
    """Return a customer or open offer; raise `CustomerUnknown` when the service has none with that id."""
    return customers.find(uow, authorize(uow), customer_id)


def change(uow: UnitOfWork, customer_id: UUID, changes: Mapping[str, Any]) -> ServiceCustomer:
    """Change the external id of a customer or offer, and set or lift the vendor's pause of a customer."""
    return customers.change_by(uow, authorize_and_lock(uow), customer_id, changes)


def end(uow: UnitOfWork, customer_id: UUID) -> None:
    """Withdraw an offer, or end the use of the service by a customer."""
    customers.end_by(uow, authorize_and_lock(uow), customer_id)


def restore(uow: UnitOfWork, customer_id: UUID) -> ServiceCustomer:
    """Restore a customer that no person owned when it ended."""
    return made_customers.restore_by(uow, authorize_and_lock(uow), customer_id)


def authorize(uow: UnitOfWork) -> Service:
    """Authorize the key to read customers, and return its service."""
    return info.find_service(uow, api_keys.authorize(uow, Permission.READ_CUSTOMERS))


def authorize_and_lock(uow: UnitOfWork, permission: Permission = Permission.WRITE_CUSTOMERS) -> Vendor:
    """Authorize the key for a change, and lock the organization, as for the changes of members."""
    # Locked before the use of the key is recorded, as in `info.change`.
    organization = uow.organizations.lock(uow.service_caller.organization_id)
    service = info.find_service(uow, api_keys.authorize(uow, permission))
    assert organization is not None, "a service has no organization"
    return Vendor(organization=organization, service=service, caller=None)
