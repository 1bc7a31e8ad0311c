"""The plans of a service."""

from typing import Annotated, Self
from uuid import UUID

import msgspec

from core.limits import PRICE_CENTS_MAX
from core.organizations.access import Operation
from core.services import plans
from core.services.plans import (
    CountedPlan,
    Plan,
    PlanFields,
    PlanInUse,
    PlanIsDefault,
    PlanUnknown,
    PriceTaken,
    TooManyPlans,
)
from core.services.services import ServiceUnknown
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.answering.bodies import Change, Input, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "plans",
    "What the end users of a service subscribe to. The features of a user's plan are in their access tokens for the"
    " service; the default plan holds for users without a subscription.",
)

PriceCents = Annotated[int, msgspec.Meta(ge=0, le=PRICE_CENTS_MAX)]


class NewPlan(Input, of=PlanFields):
    """A new plan."""

    price_cents: PriceCents


class PlanChange(Change, of=PlanFields, nullable=True):
    """The fields to change, at least one; omitted fields keep their values. Null removes the price id."""

    price_cents: PriceCents | msgspec.UnsetType | None = msgspec.UNSET


class PlanRecord(Record, of=Plan, without=("organization_id",)):
    """A plan. The default plan holds for users without a subscription and cannot be deleted."""


class PlanItem(PlanRecord):
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
    return PlanRecord.of(await call.transact(plans.create, org_slug, service_slug, body.to(PlanFields)))


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
    return PlanRecord.of(await call.transact(plans.change, org_slug, service_slug, plan_id, body.given()))


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/plans/:plan_id",
    status=204,
    refuses=(PlanIsDefault, PlanInUse, ServiceUnknown, PlanUnknown),
)
@on_service(Operation.PLANS_CHANGE)
async def delete_plan(call: Call, org_slug: str, service_slug: str, plan_id: UUID) -> None:
    """Delete a plan and its ended subscriptions. The default plan, and one with active subscriptions, cannot go."""
    await call.transact(plans.delete, org_slug, service_slug, plan_id)
