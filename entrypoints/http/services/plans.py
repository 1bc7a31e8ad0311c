"""The plans of a service."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.services import plans
from core.services.plans import (
    DEFAULT_CURRENCY,
    PRICE_CENTS_MAX,
    CountedPlan,
    Plan,
    PlanChanges,
    PlanFields,
    PlanInUse,
    PlanIsDefault,
    PlanUnknown,
    PriceTaken,
    TooManyPlans,
)
from core.services.services import ServiceUnknown
from entrypoints.web.calls import Call
from entrypoints.web.credentials import on_service
from entrypoints.web.routes import Routes

routes = Routes(
    "plans",
    "What the end users of a service subscribe to. The features of a user's plan are in their access tokens for the"
    " service; the default plan holds for users without a subscription.",
)

PlanName = Annotated[str, msgspec.Meta(description="The name for people, with 1 to 100 characters.")]
PriceCents = Annotated[
    int, msgspec.Meta(ge=0, le=PRICE_CENTS_MAX, description="The price of a period, in cents of the currency.")
]
Currency = Annotated[str, msgspec.Meta(description="The code of the currency: three lower-case letters.")]
Features = Annotated[
    list[str], msgspec.Meta(description="What the plan includes, in words that the service understands.")
]
BillingPriceId = Annotated[
    str,
    msgspec.Meta(
        description="The price at the payment provider, without which the plan cannot be bought. It belongs to this"
        " plan alone."
    ),
]


class NewPlan(msgspec.Struct, kw_only=True):
    """A new plan."""

    name: PlanName
    price_cents: PriceCents
    currency: Currency = DEFAULT_CURRENCY
    features: Features = msgspec.field(default_factory=list)
    billing_price_id: BillingPriceId | None = None


class PlanChange(msgspec.Struct, kw_only=True):
    """The fields to change, at least one; omitted fields keep their values. Null removes the price id."""

    name: PlanName | None = None
    price_cents: PriceCents | None = None
    currency: Currency | None = None
    features: Features | None = None
    billing_price_id: BillingPriceId | msgspec.UnsetType | None = msgspec.UNSET


class PlanRecord(msgspec.Struct, kw_only=True):
    """A plan. The default plan holds for users without a subscription and cannot be deleted."""

    id: UUID
    service_id: UUID
    name: str
    price_cents: int
    currency: str
    features: list[str]
    billing_price_id: str | None
    is_default: bool
    created_at: datetime

    @classmethod
    def of(cls, plan: Plan, **counts: int) -> Self:
        """Return the record of a plan."""
        return cls(
            id=plan.id,
            service_id=plan.service_id,
            name=plan.name,
            price_cents=plan.price_cents,
            currency=plan.currency,
            features=plan.features,
            billing_price_id=plan.billing_price_id,
            is_default=plan.is_default,
            created_at=plan.created_at,
            **counts,
        )


class PlanItem(PlanRecord, kw_only=True):
    """A plan in a list, with the number of users who are subscribed to it."""

    subscription_count: int

    @classmethod
    def counted(cls, counted: CountedPlan) -> Self:
        """Return the item of a plan."""
        return cls.of(counted.plan, subscription_count=counted.subscription_count)


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/plans", refuses=(TooManyPlans, ServiceUnknown, PriceTaken)
)
@on_service(Operation.PLANS_CHANGE)
async def create_plan(call: Call, org_slug: str, service_slug: str, body: NewPlan) -> PlanRecord:
    """Create a plan. To be purchasable, it needs the id of a price at the payment provider."""
    given = PlanFields(
        name=body.name,
        price_cents=body.price_cents,
        currency=body.currency,
        features=body.features,
        billing_price_id=body.billing_price_id,
    )
    return PlanRecord.of(await call.transact(plans.create, org_slug, service_slug, given))


@routes.get("/api/organizations/:org_slug/services/:service_slug/plans", refuses=(ServiceUnknown,))
@on_service(Operation.PLANS_READ)
async def list_plans(call: Call, org_slug: str, service_slug: str) -> list[PlanItem]:
    """List the plans of a service, the oldest first, with the numbers of their active subscriptions."""
    return [PlanItem.counted(counted) for counted in await call.read(plans.list_all, org_slug, service_slug)]


@routes.patch(
    "/api/organizations/:org_slug/services/:service_slug/plans/:plan_id",
    refuses=(ServiceUnknown, PlanUnknown, PriceTaken),
)
@on_service(Operation.PLANS_CHANGE)
async def change_plan(call: Call, org_slug: str, service_slug: str, plan_id: UUID, body: PlanChange) -> PlanRecord:
    """Change a plan. Its subscriptions continue; their users get the new features with their next tokens."""
    price_id = body.billing_price_id
    changes = PlanChanges(
        name=body.name,
        price_cents=body.price_cents,
        currency=body.currency,
        features=body.features,
        billing_price_id=None if isinstance(price_id, msgspec.UnsetType) else price_id,
        changes_price_id=price_id is not msgspec.UNSET,
    )
    return PlanRecord.of(await call.transact(plans.change, org_slug, service_slug, plan_id, changes))


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/plans/:plan_id",
    status=204,
    refuses=(PlanIsDefault, PlanInUse, ServiceUnknown, PlanUnknown),
)
@on_service(Operation.PLANS_CHANGE)
async def delete_plan(call: Call, org_slug: str, service_slug: str, plan_id: UUID) -> None:
    """Delete a plan and its ended subscriptions. The default plan, and one with active subscriptions, cannot go."""
    await call.transact(plans.delete, org_slug, service_slug, plan_id)
