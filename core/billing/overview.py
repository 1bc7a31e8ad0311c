"""What an organization pays for and may have, and beside it what it sells (`core/services/sales.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.organizations import members
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.services import sales
from core.services.management import Usage
from core.services.sales import Sales

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingOverview:
    """The tier of an organization, what it has of each limit (None is no limit), and what it sells.

    `has_plans` says whether any of its services has a plan besides the default one.
    """

    tier: str | None
    services: Usage
    members: int
    max_members: int | None
    sales: Sales
    has_plans: bool


def show(uow: UnitOfWork, slug: str, *, days: int) -> BillingOverview:
    """Return the overview, with the sales of the last `days` days."""
    organization = authorize(uow, slug, Operation.BILLING_READ).organization
    tier = uow.tiers.defer_by_id(organization.tier_id)()
    limits = members.limits_of(
        organization, has_tier=tier is not None, tier_max_users=tier.default_max_users if tier is not None else None
    )
    sold = sales.show(uow, slug, days=days)
    return BillingOverview(
        tier=tier.display_name if tier is not None else None,
        services=uow.services.usage(organization),
        members=uow.members.defer_count(organization.id)(),
        max_members=limits.max_users,
        sales=sold,
        has_plans=uow.sales.has_plans(organization.id),
    )
