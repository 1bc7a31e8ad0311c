"""The reference of the interface in parts: an index, a search, and a page for each area.

Each page is the same for every reader, and is rendered when it is first asked for, once in a process.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from quart import Response

from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from core.limits import PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX
from core.rate_limits import RateLimit
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import HTML, Page, protected, render
from entrypoints.pages.mail import mailbox
from entrypoints.pages.manual import links
from entrypoints.pages.reference.errors import codes
from entrypoints.pages.reference.operations import describe, describe_limit
from entrypoints.pages.reference.searching import ReferenceQuery, found_in
from entrypoints.web.describing.areas import AREAS, REFERENCE, Area, Line, addresses_of, areas_of, line_of
from entrypoints.web.describing.client_functions import client_functions
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import AnswerStatus, error_page
from entrypoints.web.serving.answering.documents import Document, generated_once, routes_of
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("reference", "This reference, for people and for programs.")
parts = Routes(routes.capability, routes.description, refusal_page)

PAGES: Final = f"{REFERENCE}/pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedArea:
    """An area in the index, with the lines of its operations."""

    area: Area
    # The anchor that the page of all routes had for it.
    anchor: str
    lines: Sequence[Line]


@routes.get("/", status=302)
@on_custom_hosts
@public
async def home(call: Call) -> None:
    """Redirect to the pages for people; this reference is at `/docs`."""
    call.headers["Location"] = "/app"


@routes.get(REFERENCE)
@public
async def page(call: Call, query: ReferenceQuery) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show the index of this reference, or what a search finds in it."""
    if query.q.strip():
        found = found_in(routes_of(call), query.q)
        html = render(
            "reference/reference_found.html",
            version=call.installation.version,
            searched=query.q,
            found=found,
            error_page=error_page,
        )
        return _connecting(Response(html, content_type=f"{HTML}; charset=utf-8"))
    document = await generated_once(call, _write_index)
    return _connecting(document.response(call))


@parts.get(PAGES)
@public
async def pages_for_people(call: Call) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show the index of the routes that people open in a browser."""
    document = await generated_once(call, _write_index_of_pages)
    return _connecting(document.response(call))


@parts.get(f"{AREAS}/:area", refuses=(NotFound,))
@public
async def show_area(call: Call, area: str) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show all operations of an area: their input, their answers, and programs to try them."""
    found = areas_of(routes_of(call)).get(area)
    if found is None:
        raise NotFound
    document = await generated_once(call, _AreaPage(found))
    return _connecting(document.response(call))


def _connecting(response: Response) -> Response:
    """Return a page whose search asks while one types."""
    return protected(response, connects=True)


def _write_index(routes: tuple[Route, ...], installation: Installation) -> Document:
    return _written(
        "reference/reference.html",
        installation,
        areas=_listed(routes, are_pages=False),
        routes_count=sum(not route.is_page for route in routes),
        has_mailbox=any(route.capability == mailbox.routes.capability for route in routes),
        credentials=[
            (kind.label, kind.security_scheme["description"]) for kind in CredentialKind if kind.security_scheme
        ],
        codes=codes(),
        error_page=error_page,
        limits=[(limit.name, describe_limit(limit)) for limit in RateLimit],
        page_items_default=PAGE_ITEMS_DEFAULT,
        page_items_max=PAGE_ITEMS_MAX,
        base_url=installation.settings.base_url,
    )


def _write_index_of_pages(routes: tuple[Route, ...], installation: Installation) -> Document:
    return _written(
        "reference/reference_pages.html",
        installation,
        areas=_listed(routes, are_pages=True),
        routes_count=sum(route.is_page for route in routes),
    )


@dataclass(frozen=True, slots=True)
class _AreaPage:
    """Writes the page of an area."""

    area: Area

    def __call__(self, routes: tuple[Route, ...], installation: Installation) -> Document:
        """Return the page."""
        return _written(
            "reference/reference_area.html",
            installation,
            area=self.area,
            manual=links.address_of(links.OF_CAPABILITIES.get(self.area.routes[0].capability)),
            routes=describe(
                self.area.routes,
                installation.settings.base_url,
                functions=client_functions(routes),
                password_minimum=installation.password_rules.characters_min,
            ),
            error_page=error_page,
        )


def _listed(routes: tuple[Route, ...], *, are_pages: bool) -> list[ListedArea]:
    addresses, listed = addresses_of(routes), list[ListedArea]()
    for area in areas_of(routes).values():
        lines = [line_of(one, addresses[one.operation_id]) for one in area.routes if one.is_page is are_pages]
        if lines:
            listed.append(ListedArea(area=area, anchor=area.anchor, lines=lines))
    return listed


def _written(template: str, installation: Installation, **values: Any) -> Document:
    html = render(template, version=installation.version, **values)
    return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")
