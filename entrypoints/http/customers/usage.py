"""How many people use a service for a customer."""

from typing import Annotated, Self
from uuid import UUID

import msgspec

from core.customers import usage
from core.customers.customers import CustomerUnknown, VendorPath
from core.customers.usage import CustomerUsage, ServiceUsage
from core.organizations.access import Operation
from core.services.services import ServiceUnknown
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("customers", "The customers of a service: organizations whose people use it.")


class MonthQuery(Query, kw_only=True):
    """The month in which people are counted."""

    month: Annotated[
        str, msgspec.Meta(max_length=7, description="The month by UTC, as `2026-11`, which may not be over yet.")
    ]


class PeopleOfMonth(msgspec.Struct, kw_only=True):
    """How many people have used a service for a customer in a month."""

    month: str
    active_people: int


class CustomerUsageRecord(Record, of=CustomerUsage):
    """How many people have used a service for one of its customers."""


class UsageOfMonth(msgspec.Struct, kw_only=True):
    """How many people have used a service for its customers in a month."""

    month: str
    customers: list[CustomerUsageRecord]
    active_people: int

    @classmethod
    def of(cls, month: str, found: ServiceUsage) -> Self:
        """Return the answer."""
        return cls(
            month=month,
            customers=[CustomerUsageRecord.of(one) for one in found.customers],
            active_people=found.active_people,
        )


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/usage",
    refuses=(ServiceUnknown, CustomerUnknown),
)
@on_service(Operation.CUSTOMERS_READ)
async def show_usage(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, query: MonthQuery
) -> PeopleOfMonth:
    """Count the people who have used a service for a customer in a month: who has signed in, or stayed signed in.

    Each counts once.
    """
    people = await call.read(usage.of_customer, VendorPath(org_slug, service_slug), customer_id, month=query.month)
    return PeopleOfMonth(month=query.month, active_people=people)
