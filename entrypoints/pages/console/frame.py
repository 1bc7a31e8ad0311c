"""What the pages of the console share: the frame of an organization, what was just done, and the call of the interface.

A page of the console is a route like this one; `console/frame.html` and `console/components.html` have the rest, and
`lists.py` has lists:

    @routes.get("/app/organizations/:org_slug/widgets/:widget_id")
    @in_console(Operation.WIDGETS_READ)
    async def show_widget(call: Call, org_slug: str, widget_id: UUID, query: DoneQuery) -> Page:
        standing, widget = await opened(call, org_slug, Operation.WIDGETS_READ, widgets.show, widget_id)
        return console_page(call, "widgets/widgets_one.html", standing,
                            program=Program("widgets_read_widget", org_slug, widget_id),
                            done=query.done, widget=widget)

`opened` authorizes and reads in one transaction, and `standing` says what the reader's role lacks. A page of the
platform is declared by `@platform_support_in_console` or `@platform_owner_in_console`, reads with
`opened_for_platform`, and its template extends `console/platform_frame.html`.

`standing.lacks(operation)` is what a control that is closed names. The foot of a page has the call that does the same,
by the id of its operation (`Program`). A form that asks before it acts is `ui.question`; one after which something ends
is `console.confirmation`, which says what ends, in numbers. `organizations/people.py` and `invitations/invited.py` are
the models.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec, TypeVar, cast
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from quart import Response

from core.errors import Refusal
from core.organizations import standing
from core.organizations.access import Operation
from core.organizations.standing import Standing
from core.platform import console
from core.platform.console import PlatformStanding
from core.positions import Position, position_of
from entrypoints.pages.console.crumbs import way_of
from entrypoints.pages.console.flash_messages import OUTCOMES
from entrypoints.pages.console.page_calls import calls_of_page
from entrypoints.pages.console.sections import SectionGroup, sections_of, sections_of_platform
from entrypoints.pages.frame.brands import Brand
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import language_of
from entrypoints.pages.frame.refusals import problem_of, problems_of
from entrypoints.pages.frame.rendering import form_page
from entrypoints.pages.manual import links
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.answering.answers import encode, see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import GatehouseRequest
from entrypoints.web.serving.routes import Route, path_with

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")

CONSOLE: Final = "/app/organizations"
BILLING: Final = f"{CONSOLE}/:org_slug/billing"
PLATFORM: Final = "/app/platform"
PLATFORM_ORGANIZATIONS: Final = f"{PLATFORM}/organizations"
# How many rows a list shows at once.
ROWS_SHOWN: Final = 25
# The fields of the query of a list that its links leave out: `choose` ticks the boxes of one page.
_NO_FILTERS: Final = frozenset({"done", "after", "choose"})


class PagedQuery(DoneQuery, kw_only=True):
    """From where on a list is shown, and what was just done."""

    after: Annotated[str, msgspec.Meta(description="The position after which the page begins.", max_length=100)] = ""

    @property
    def kept(self) -> dict[str, str]:
        """The filters, as the fields of an address."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name not in _NO_FILTERS}

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name."""
        return self.kept

    @property
    def position(self) -> Position | None:
        """The position after which the page begins; None for the begin of the list, also where it is damaged."""
        return position_of(self.after)

    @property
    def rows(self) -> Mapping[str, Any]:
        """The rows of the page, as the use case of the list takes them by name: the filters, the begin, the number."""
        return {**self.filters, "after": self.position, "limit": ROWS_SHOWN}


class ConsoleListQuery(PagedQuery, kw_only=True):
    """Which rows a list shows, from where on, and what was just done."""

    search: Annotated[str, msgspec.Meta(description="A part of the address.", max_length=254)] = ""


class Program:
    """The call of the interface that does what a page shows, for its footer; a field without value is left out.

    The operation is named by its id in the OpenAPI document, and `at` are the values of its path in their order.
    """

    __slots__ = ("at", "body", "operation", "query")

    def __init__(
        self,
        operation: str,
        *at: str | UUID,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        self.operation = operation
        self.at = at
        self.query = query or {}
        self.body = body

    def curl(self, route: Route, base_url: str) -> str:
        """Return the call of the route of the operation as a command; $TOKEN is an access token, $KEY an API key."""
        address = shlex.quote(base_url + with_query(path_with(route.path, self.at), **self.query))
        method = "" if route.method == "GET" else f"-X {route.method} "
        credential = "X-Api-Key: $KEY" if takes_key(route) else "Authorization: Bearer $TOKEN"
        lines = [f"curl {method}{address}", f'-H "{credential}"']
        if self.body is not None:
            lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(encode(dict(self.body)).decode())}"]
        return " \\\n  ".join(lines)


def takes_key(route: Route) -> bool:
    """Return whether a route is for the backend of a service alone, which calls it with an API key."""
    return route.who.kind is CredentialKind.API_KEY


def path_in_interface(call: Call, operation: str, *at: str | UUID) -> str:
    """Return the path of an operation of the interface with these values of its parameters."""
    return path_with(route_of(call, operation).path, at)


def route_of(call: Call, operation: str) -> Route:
    """Return the route of an operation of the interface."""
    return cast("GatehouseRequest", call.request).paths.operations[operation]


def page_of(slug: str) -> str:
    """Return the path of an organization in the console."""
    return f"{CONSOLE}/{slug}"


async def opened(
    call: Call,
    slug: str,
    operation: Operation,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[Standing, Found]:
    """Authorize the reader of a page, and return their standing and what the use case reads."""
    return await call.read(standing.read, slug, operation, use_case, *args, **kwargs)


async def opened_for_platform(
    call: Call,
    use_case: Callable[Concatenate[UnitOfWork, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[PlatformStanding, Found]:
    """Authorize the reader of a page of the platform, and return their standing and what the use case reads.

    What the reader opens of a person is recorded, so the use case may write.
    """
    return await call.transact(console.read, use_case, *args, **kwargs)


def console_page(
    call: Call,
    template: str,
    standing: Standing | PlatformStanding | None,
    *,
    program: Program,
    besides: Sequence[Program] = (),
    done: str = "",
    refusal: Refusal | None = None,
    **values: Any,
) -> Response:
    """Return a page of the console, with what was just done, or with what was refused; None is in no organization.

    `program` reads what the page shows, and `besides` are further ones; `page_calls.py` knows the rest. The
    template has what is wrong with each field of a refused form as `problems`.
    """
    calls = [(one, route_of(call, one.operation)) for one in (program, *besides)]
    return form_page(
        call,
        template,
        status=refusal.code.status if refusal is not None else 200,
        # Its palette asks for what is typed.
        connects=True,
        standing=standing,
        curls=[one.curl(route, call.installation.settings.base_url) for one, route in calls],
        is_called_with_key=takes_key(calls[0][1]),
        page_calls=calls_of_page(
            cast("GatehouseRequest", call.request), besides=[one.operation for one in (program, *besides)]
        ),
        # Another word in the address means nothing.
        outcome=language_of(call).known(OUTCOMES.get(done, "")),
        problem=problem_of(refusal),
        brand=_brand_of(call, standing),
        sections=_sections_of(standing),
        manual=_manual_of(standing),
        **way_of(call),
        **{"problems": problems_of(refusal)} | values,
    )


def _sections_of(standing: Standing | PlatformStanding | None) -> list[SectionGroup]:
    """Return the navigation of a page; one of no organization has none."""
    match standing:
        case Standing():
            return sections_of(standing)
        case PlatformStanding():
            return sections_of_platform(standing)
        case None:
            return []


def _manual_of(standing: Standing | PlatformStanding | None) -> Mapping[str, str]:
    """Return the pages of the manual about the sections of a console."""
    return links.OF_PLATFORM if isinstance(standing, PlatformStanding) else links.OF_ORGANIZATION


def _brand_of(call: Call, standing: Standing | PlatformStanding | None) -> Brand | None:
    """Return the brand of a page of an organization; pages of the platform have the platform's."""
    if not isinstance(standing, Standing) or standing.brand is None:
        return None
    return Brand(standing.brand, call.installation.platform.name)


def after(page: str, done: str, **query: Any) -> Response:
    """Return the response that leads back to a page, with these fields of its query, which shows what was done."""
    assert done in OUTCOMES, "no sentence says what was done"
    return see_other(with_query(page, **query, done=done))


def with_query(page: str, /, **query: Any) -> str:
    """Return the address of a page with these fields of its query; a field without value is left out."""
    given = {name: value for name, value in query.items() if value}
    return f"{page}?{urlencode(given)}" if given else page
