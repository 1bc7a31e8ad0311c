"""The billing portal: pages of the payment provider where an organization changes what it pays for."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.billing import checkout
from core.billing.provider import BillingMode
from core.billing.provider_customers import CustomerCreation
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalRequest:
    """The portal to open; `customer` is set when a customer has to be made first."""

    organization_id: UUID
    customer_id: str | None
    customer: CustomerCreation | None
    return_url: str


def request(uow: UnitOfWork, slug: str, *, return_url: str, mode: BillingMode) -> PortalRequest:
    """Authorize the caller to open the portal of an organization."""
    organization = authorize(uow, slug, Operation.BILLING_PORTAL).organization
    checked = checkout.checked_url("return_url", return_url)
    customer_id, creation = checkout.customer_or_creation(uow, organization, mode)
    return PortalRequest(
        organization_id=organization.id, customer_id=customer_id, customer=creation, return_url=checked
    )


def record_opened(uow: UnitOfWork, slug: str, *, mode: BillingMode) -> None:
    """Record that the caller gets the address of the portal, which works for anyone who has it for a while."""
    organization = authorize(uow, slug, Operation.BILLING_PORTAL).organization
    uow.record(AuditAction.BILLING_PORTAL_OPENED, organization.id, organization_id=organization.id, mode=mode.value)
