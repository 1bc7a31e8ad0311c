"""How many people use a service for its customers, for its backend."""

from uuid import UUID

from core.customers import usage
from core.customers.customers import OF_KEY, CustomerUnknown
from core.service_api import usage as service_usage
from core.services.api_keys import Permission
from entrypoints.http.customers.usage import MonthQuery, PeopleOfMonth, UsageOfMonth
from entrypoints.web.serving.admission.credentials import service_key
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "service customers",
    "The customers of a service, as its backend manages them with an API key: the same records as under `customers`.",
)


@routes.get("/api/service/customers/:customer_id/usage", refuses=(CustomerUnknown,))
@service_key(Permission.READ_CUSTOMERS)
async def show_customer_usage(call: Call, customer_id: UUID, query: MonthQuery) -> PeopleOfMonth:
    """Count the people who have used your service for a customer in a month: who has signed in, or stayed signed in.

    Each counts once.
    """
    people = await call.read(usage.of_customer, OF_KEY, customer_id, month=query.month)
    return PeopleOfMonth(month=query.month, active_people=people)


@routes.get("/api/service/usage")
@service_key(Permission.READ_CUSTOMERS)
async def show_service_usage(call: Call, query: MonthQuery) -> UsageOfMonth:
    """Count the people who have used your service for its customers in a month, for each customer and in all.

    Customers with at least one person are listed, the most people first, at most 10,000. A person who comes for two
    customers counts once for each of them, and once in all.
    """
    return UsageOfMonth.of(query.month, await call.read(service_usage.of_service, month=query.month))
