"""Organizations that were claimed with the power of a takeover: their vendors have them back, without an owner.

A vendor made such an organization for a customer. What the claimer has done with it stays in the claimed organization,
which is suspended like one that was founded in the takeover. The customer goes on in a new organization with nothing of
that in it, which the right person may claim.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import management
from core.organizations.organizations import Membership, Organization

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The fields of an organization that the platform sets.
_OF_PLATFORM: Final = (
    *("status", "tier_id", "max_services", "max_users", "approved_at", "approved_by"),
    *("rejected_at", "rejection_reason", "suspended_at", "suspension_reason"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedCustomer:
    """A customer whose organization a vendor made and a person has claimed, with the name that the vendor gave it."""

    customer_id: UUID
    vendor_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    made_name: str


def claimed(uow: UnitOfWork, joined: Collection[Membership], *, since: datetime) -> set[UUID]:
    """Return the organizations that an account has claimed since a takeover began; `joined` are its new memberships."""
    joined_at = {one.organization_id: one.created_at for one in joined}
    claimed_at = uow.takeover_claims.claimed_at(list(joined_at), since=since)
    return {one for one, at in claimed_at.items() if joined_at[one] == at}


def give_back(uow: UnitOfWork, before: Organization, *, reason: str) -> list[ClaimedCustomer]:
    """Give the customers of this locked organization another one, which no person owns, and return them."""
    customers = uow.takeover_claims.customers_of(before.id)
    for customer in customers:
        # What the platform has decided of the organization stays decided.
        fresh = management.new_organization(uow, "", customer.made_name)
        new = management.add_unclaimed(uow, replace(fresh, **{name: getattr(before, name) for name in _OF_PLATFORM}))
        uow.takeover_claims.move(customer, before.id, new.id)
        uow.record(
            AuditAction.CUSTOMER_CHANGED,
            customer.customer_id,
            organization_id=customer.vendor_id,
            customer_id=str(customer.customer_id),
            client_id=str(customer.client_id),
            service_slug=customer.service_slug,
            external_id=customer.external_id,
            organization_slug=new.slug,
            organization_name=new.name,
            unclaimed=True,
            reason=reason,
        )
    return customers
