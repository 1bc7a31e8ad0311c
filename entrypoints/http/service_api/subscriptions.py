"""The subscriptions to a service, for its backend."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.service_api import subscriptions
from core.service_api.subscriptions import (
    PlanOfSiblingService,
    SubscriptionBilled,
    SubscriptionExists,
    SubscriptionUnknown,
)
from core.services.api_keys import Permission
from core.services.plans import PlanUnknown
from core.services.subscriptions import Subscription, SubscriptionStatus
from core.services.user_metadata import ServiceUserUnknown
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "service subscriptions",
    "The subscriptions to a service, as its backend manages them with an API key. A user has at most one active"
    " subscription to a service; `active` and `past_due` both count.",
)

PeriodEnd = Annotated[
    datetime, msgspec.Meta(tz=True, description="When the paid period ends; 30 days from now by default.")
]
NewPeriodEnd = Annotated[datetime, msgspec.Meta(tz=True, description="When the paid period ends.")]


class NewSubscription(msgspec.Struct, kw_only=True):
    """A user of your service, and a plan of it."""

    user_id: UUID
    plan_id: UUID
    status: SubscriptionStatus = SubscriptionStatus.ACTIVE
    current_period_end: PeriodEnd | None = None


class SubscriptionChange(msgspec.Struct, kw_only=True):
    """The fields to change; omitted fields keep their values."""

    status: SubscriptionStatus | None = None
    current_period_end: NewPeriodEnd | None = None
    plan_id: UUID | None = None


class SubscriptionRecord(
    Record, of=Subscription, without=("organization_id", "service_id", "created_at", "billing_subscription_id")
):
    """The subscription of a user to a plan."""


class SubscriptionList(msgspec.Struct, kw_only=True):
    """A page of subscriptions, and the number of those that match."""

    subscriptions: list[SubscriptionRecord]
    total: int


class SubscriptionsQuery(Sliced, kw_only=True):
    """A status to filter by, and a part of the list."""

    status: SubscriptionStatus | None = None


@routes.get("/api/service/subscriptions")
@service_key(Permission.READ_SUBSCRIPTIONS)
async def list_subscriptions(call: Call, query: SubscriptionsQuery) -> SubscriptionList:
    """List the subscriptions to your service, the newest first."""
    page = await call.read(subscriptions.list_page, status=query.status, limit=query.limit, offset=query.offset)
    records = [SubscriptionRecord.of(subscription) for subscription in page.subscriptions]
    return SubscriptionList(subscriptions=records, total=page.total)


@routes.post(
    "/api/service/subscriptions",
    refuses=(PlanOfSiblingService, ServiceUserUnknown, PlanUnknown, SubscriptionExists),
)
@service_key(Permission.WRITE_SUBSCRIPTIONS)
async def create_subscription(call: Call, body: NewSubscription) -> SubscriptionRecord:
    """Subscribe a user of your service to one of its plans.

    Plan, features and status are in the user's tokens from their next refresh on.
    """
    subscription = await call.transact(
        subscriptions.create,
        known_id=body.user_id,
        plan_id=body.plan_id,
        status=body.status,
        current_period_end=body.current_period_end,
    )
    return SubscriptionRecord.of(subscription)


@routes.get("/api/service/subscriptions/:user_id", refuses=(SubscriptionUnknown,))
@service_key(Permission.READ_SUBSCRIPTIONS)
async def show_subscription(call: Call, user_id: UUID) -> SubscriptionRecord:
    """Show a user's subscription: the active one, or else the newest."""
    return SubscriptionRecord.of(await call.read(subscriptions.show, user_id))


@routes.patch(
    "/api/service/subscriptions/:user_id",
    refuses=(PlanOfSiblingService, SubscriptionUnknown, PlanUnknown, SubscriptionExists, SubscriptionBilled),
)
@service_key(Permission.WRITE_SUBSCRIPTIONS)
async def change_subscription(call: Call, user_id: UUID, body: SubscriptionChange) -> SubscriptionRecord:
    """Change a user's subscription: the active one, or else the newest.

    One that a payment provider bills, through Gatehouse, is changed there: any change of it here is 409 `CONFLICT`,
    also of the plan alone. A body that changes nothing is answered with the subscription as it is.
    """
    changed = await call.transact(
        subscriptions.change,
        user_id,
        status=body.status,
        current_period_end=body.current_period_end,
        plan_id=body.plan_id,
    )
    return SubscriptionRecord.of(changed)


@routes.delete("/api/service/subscriptions/:user_id", status=204, refuses=(SubscriptionUnknown, SubscriptionBilled))
@service_key(Permission.DELETE_SUBSCRIPTIONS)
async def delete_subscription(call: Call, user_id: UUID) -> None:
    """Delete a user's subscription, and their earlier ones. The default plan holds for the user from then on.

    A subscription that is paid through the payment provider is cancelled there.
    """
    await call.transact(subscriptions.delete, user_id)
