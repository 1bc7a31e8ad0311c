"""What the pages share on which a vendor sets a customer up: who may read them, their tabs, and their attempts.

The parts are in the modules of their capabilities: `connections.py`, `mail_domains.py`, `scim_tokens.py`,
`group_rules.py` and `setup_links.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

from quart import Response

from core.customers import setup_callers
from core.customers.customers import CustomerUnknown, ServiceCustomer
from core.customers.setup_callers import BeyondVendorSetup, CustomerClosed, CustomerPath
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.link_callers import Part
from core.services.services import ServiceUnknown
from core.services.standing import ServiceStanding
from entrypoints.pages.console.frame import Program
from entrypoints.pages.customers.customers import CUSTOMER, page_of_customer, page_of_customers
from entrypoints.pages.customers.setup_progress import PARTS
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.calls import Call

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")

# What the pages of every part may refuse.
REFUSES: Final = (ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed)
CONNECTIONS: Final = f"{CUSTOMER}/connections"
MAIL_DOMAINS: Final = f"{CUSTOMER}/mail-domains"
SCIM_TOKENS: Final = f"{CUSTOMER}/scim-tokens"
GROUP_RULES: Final = f"{CUSTOMER}/group-rules"
SETUP_LINKS: Final = f"{CUSTOMER}/setup-links"
_TABS: Final = (
    ("connections", PARTS[Part.UPSTREAM.value]),
    ("mail-domains", PARTS[Part.MAIL_DOMAIN.value]),
    ("scim-tokens", PARTS[Part.SCIM.value]),
    ("group-rules", PARTS[Part.GROUPS.value]),
    ("setup-links", marked("Setup links")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupPlace:
    """The customer that a page sets up: its reader's standing, the customer, and the path of the page's part."""

    at: ServiceStanding
    customer: ServiceCustomer
    page: str


async def opened_setup(
    call: Call,
    path: CustomerPath,
    part: str,
    use_case: Callable[Concatenate[UnitOfWork, CustomerPath, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[SetupPlace, Found]:
    """Authorize the reader of a page of the setup of a customer, and return its place and what the use case reads."""
    org_slug, service_slug = _slugs(path)
    at, (customer, found) = await opened_service(
        call,
        org_slug,
        service_slug,
        Operation.CUSTOMER_SETUP_READ,
        lambda uow, _slug, _service: setup_callers.show(uow, path, use_case, *args, **kwargs),
    )
    page = f"{page_of_customer(org_slug, service_slug, path.customer_id)}/{part}"
    return SetupPlace(at=at, customer=customer, page=page), found


async def require_change(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> None:
    """Refuse a reader who may not set customers up, before a page of a change reads the customer."""
    await call.read(setup_callers.require_change, path_of(org_slug, service_slug, customer_id))


def setup_page(
    call: Call,
    template: str,
    place: SetupPlace,
    *,
    program: Program,
    done: str = "",
    refusal: Refusal | None = None,
    **values: Any,
) -> Response:
    """Return a page of the setup of a customer; its template extends `customers/setup_callers_frame.html`."""
    org_slug, service_slug = place.at.reader.organization.slug, place.at.service.slug
    customer_page = page_of_customer(org_slug, service_slug, place.customer.id)
    return service_page(
        call,
        template,
        place.at,
        program=program,
        done=done,
        refusal=refusal,
        customer=place.customer,
        customers=page_of_customers(org_slug, service_slug),
        customer_page=customer_page,
        part_page=place.page,
        parts=_parts(place, customer_page),
        lacks_setup=place.at.lacks(Operation.CUSTOMER_SETUP),
        **values,
    )


def path_of(org_slug: str, service_slug: str, customer_id: UUID) -> CustomerPath:
    """Return a customer as the use cases of its setup name it."""
    return CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug)


def _slugs(path: CustomerPath) -> tuple[str, str]:
    assert path.org_slug is not None, "a page names no organization"
    assert path.service_slug is not None, "a page names no service"
    return path.org_slug, path.service_slug


def _parts(place: SetupPlace, customer_page: str) -> list[tuple[str, str, None]]:
    """Return the parts that the vendor may set up, with the setup links, as tabs."""
    named = [PARTS[part.value] for part in setup_callers.open_parts(place.customer)]
    return [
        (f"{customer_page}/{word}", title, None) for word, title in _TABS if title in named or word == "setup-links"
    ]
