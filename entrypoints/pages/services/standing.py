"""What the pages of one service share: authorizing their reader, by role or by a grant, and the tabs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from quart import Response

from core.errors import Refusal
from core.organizations.access import Capability, Operation, RequiredStanding
from core.services import standing
from core.services.standing import ServiceStanding
from entrypoints.pages.console.frame import Program, console_page, page_of
from entrypoints.pages.frame.languages import marked
from entrypoints.web.serving.calls import Call

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


async def opened_service(
    call: Call,
    slug: str,
    service_slug: str,
    operation: Operation,
    use_case: Callable[Concatenate[UnitOfWork, str, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[ServiceStanding, Found]:
    """Authorize the reader of a page of a service, and return their standing and what the use case reads."""
    return await call.read(standing.read, slug, service_slug, operation, use_case, *args, **kwargs)


def service_page(
    call: Call,
    template: str,
    at: ServiceStanding,
    *,
    program: Program,
    besides: Sequence[Program] = (),
    done: str = "",
    refusal: Refusal | None = None,
    **values: Any,
) -> Response:
    """Return a page of a service; its template extends `services/standing.html` and sets `tab`."""
    page = page_of_service(at.reader.organization.slug, at.service.slug)
    return console_page(
        call,
        template,
        at.reader,
        program=program,
        besides=besides,
        done=done,
        refusal=refusal,
        service=at.service,
        page=page,
        tabs=_tabs(at, page),
        # One with a grant on this service alone may lack it.
        lacks_list=at.reader.lacks(Operation.SERVICES_LIST),
        **values,
    )


def page_of_service(slug: str, service_slug: str) -> str:
    """Return the path of a service in the console."""
    return f"{page_of(slug)}/services/{service_slug}"


def _tabs(at: ServiceStanding, page: str) -> list[tuple[str, str, Capability | RequiredStanding | None]]:
    return [
        (page, marked("Connect"), None),
        (f"{page}/options", marked("Settings"), None),
        (f"{page}/access", marked("Who may sign in"), None),
        (f"{page}/claims", marked("Roles and groups"), None),
        (f"{page}/grants", marked("People"), at.reader.lacks(Operation.SERVICE_GRANTS_CHANGE)),
        (f"{page}/customers", marked("Customers"), at.lacks(Operation.CUSTOMERS_READ)),
        (f"{page}/plans", marked("Plans"), None),
        (f"{page}/api-keys", marked("API keys"), None),
        (f"{page}/workloads", marked("Workloads"), at.lacks(Operation.WORKLOADS_READ)),
        (f"{page}/single-sign-on", marked("SAML"), None),
        (f"{page}/problems", marked("Troubles"), at.lacks(Operation.SERVICE_PROBLEMS_READ)),
        (f"{page}/sign-ins", marked("Sign-ins"), at.reader.lacks(Operation.SIGN_INS_READ)),
    ]
