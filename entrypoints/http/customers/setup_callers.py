"""Routes of the setup of a customer: each is declared once, for the members of the vendor and for its program.

    @for_vendor(routes.get, "/connections", Operation.CUSTOMER_SETUP_READ)
    async def list_customer_connections(call: Call, customer: CustomerPath) -> CustomerConnectionList:
        \"\"\"List the connections of a customer that you have made, the oldest first.\"\"\"

A member names the organization and the service in the path, a key of the service neither. The route of the key has the
name of the handler, and `_by_key` behind it.
"""

from collections.abc import Awaitable, Callable
from functools import update_wrapper
from typing import Any, Final, TypeVar
from uuid import UUID

from core.customers.customers import CustomerUnknown
from core.customers.setup_callers import BeyondVendorSetup, CustomerClosed, CustomerPath, MakerOfKeyGone
from core.errors import Refusal
from core.organizations.access import Operation
from core.services.api_keys import Permission
from core.services.services import ServiceUnknown
from entrypoints.web.serving.admission.credentials import on_service, service_key
from entrypoints.web.serving.calls import Call

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])

OF_MEMBERS: Final = "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id"
OF_PROGRAMS: Final = "/api/service/customers/:customer_id"


def for_vendor(
    declare: Callable[..., Callable[[Callable[..., Awaitable[Any]]], object]],
    path: str,
    operation: Operation,
    *,
    refuses: tuple[type[Refusal], ...] = (),
    **options: Any,
) -> Callable[[Handler], Handler]:
    """Declare a route below a customer, for the members of the vendor and for its program.

    `declare` is a method of the module's `Routes`. The handler takes the customer as `customer`, a `CustomerPath`.
    """

    def declare_both(handler: Handler) -> Handler:
        async def of_member(call: Call, org_slug: str, service_slug: str, customer_id: UUID, **sent: Any) -> Any:
            customer = CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug)
            return await handler(call, customer, **sent)

        async def of_program(call: Call, customer_id: UUID, **sent: Any) -> Any:
            return await handler(call, CustomerPath(customer_id=customer_id), **sent)

        shared = (CustomerUnknown, BeyondVendorSetup, CustomerClosed)
        declare(f"{OF_MEMBERS}{path}", refuses=(ServiceUnknown, *shared, *refuses), **options)(
            on_service(operation)(_made(of_member, handler))
        )
        declare(f"{OF_PROGRAMS}{path}", refuses=(*shared, MakerOfKeyGone, *refuses), **options)(
            service_key(Permission.SETUP_CUSTOMERS)(_made(of_program, handler, "_by_key"))
        )
        return handler

    return declare_both


def _made(
    own: Callable[..., Awaitable[Any]], handler: Callable[..., Awaitable[Any]], suffix: str = ""
) -> Callable[..., Awaitable[Any]]:
    """Give a function the name and text of the handler, and its parameters beside what names the customer."""
    named = {name: kind for name, kind in own.__annotations__.items() if name not in {"sent", "return"}}
    sent = {name: kind for name, kind in handler.__annotations__.items() if name != "customer"}
    update_wrapper(own, handler)
    own.__annotations__ = named | sent
    own.__name__ += suffix
    return own
