"""The reference of the interface: every route, its input, its answers, and a command to try it. One page, no scripts.

It is generated from the same declarations as the OpenAPI document (`entrypoints/web/describing/openapi.py`), so that
the two agree. The page is the same for every reader and is rendered once.
"""

from collections.abc import Iterable
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, Final

from core.errors import ErrorCode
from core.lazy_dataclasses import dataclass
from core.limits import PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PASSWORD_CHARACTERS_MIN
from core.rate_limits import RateLimit
from entrypoints.installation import Installation
from entrypoints.pages.frame.rendering import HTML, Page, protected, render
from entrypoints.pages.mail import mailbox
from entrypoints.pages.reference.curl_examples import curl_example, variables
from entrypoints.pages.reference.field_rows import FieldRow, field_rows, remarks, takes
from entrypoints.web.describing.documented_errors import RefusalDescription, refusals
from entrypoints.web.describing.openapi import introductions, parameters_of
from entrypoints.web.describing.schemas import Schemas, answers, for_readers
from entrypoints.web.serving.access_policies import CredentialKind
from entrypoints.web.serving.answers import AnswerStatus
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.documents import Document, generated_once
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("reference", "This reference, for people and for programs.")

ADDRESS: Final = "/docs"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """One answer of a route."""

    status: int
    phrase: str
    media_type: str
    fields: list[FieldRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteView:
    """What the page shows of a route."""

    anchor: str
    method: str
    path: str
    title: str
    documentation: str
    who: str
    is_public: bool
    parameters: list[FieldRow]
    body_media_type: str
    body: list[FieldRow] | None
    answers: list[AnswerView]
    refusals: list[RefusalDescription]
    limits: list[str]
    command: str
    variables: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityView:
    """What the page shows of a capability."""

    anchor: str
    name: str
    introduction: str
    routes: list[RouteView]


@routes.get("/", status=302)
@on_custom_hosts
@public
async def home(call: Call) -> None:
    """Redirect to the pages for people; this reference is at `/docs`."""
    call.headers["Location"] = "/app"


@routes.get(ADDRESS)
@public
async def page(call: Call) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show this reference."""
    document = await generated_once(call, _write)
    return protected(document.response(call))


def _write(routes: tuple[Route, ...], installation: Installation) -> Document:
    base_url = installation.settings.base_url
    html = render(
        "reference/reference.html",
        version=installation.version,
        base_url=base_url,
        capabilities=describe(routes, base_url, installation.password_rules.characters_min),
        routes_count=len(routes),
        has_mailbox=any(route.capability == mailbox.routes.capability for route in routes),
        credentials=[
            (kind.label, kind.security_scheme["description"]) for kind in CredentialKind if kind.security_scheme
        ],
        codes=sorted(ErrorCode, key=lambda code: (code.status, code.name)),
        limits=[(limit.name, describe_limit(limit)) for limit in RateLimit],
        page_items_default=PAGE_ITEMS_DEFAULT,
        page_items_max=PAGE_ITEMS_MAX,
    )
    return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")


def describe(
    routes: Iterable[Route], base_url: str, password_minimum: int = PASSWORD_CHARACTERS_MIN
) -> list[CapabilityView]:
    """List what the page shows, by capability, in the order of their declaration."""
    routes = tuple(routes)
    schemas, order = Schemas(routes, password_minimum=password_minimum), introductions(routes)
    by_capability = sorted(routes, key=lambda route: list(order).index(route.capability))
    return [
        CapabilityView(
            anchor=capability.replace(" ", "-"),
            name=capability[:1].upper() + capability[1:],
            introduction=order[capability],
            routes=[_route_view(route, schemas, base_url) for route in group],
        )
        for capability, group in groupby(by_capability, key=lambda route: route.capability)
    ]


def describe_limit(limit: RateLimit) -> str:
    """Describe a rate limit in words."""
    seconds, per_second = f"{limit.seconds_per_request:g}", round(1 / limit.seconds_per_request, 6)
    pace = "one per second" if seconds == "1" else f"one every {seconds} seconds"
    if per_second > 1 and per_second.is_integer():
        pace = f"{per_second:g} per second"
    return f"{limit.burst} requests at once, then {pace}"


def _route_view(route: Route, schemas: Schemas, base_url: str) -> RouteView:
    title, _, rest = for_readers(route.documentation).partition("\n")
    command = curl_example(route, schemas, base_url)
    return RouteView(
        anchor=route.operation_id,
        method=route.method,
        path=route.path,
        title=title,
        documentation=rest.strip(),
        who=route.who.label,
        is_public=route.who.kind is CredentialKind.NONE,
        parameters=_parameters(route, schemas),
        body_media_type=route.media_type,
        body=None if route.sent is None else field_rows(schemas, schemas.of(route.sent)),
        answers=[
            AnswerView(
                status=answer.status,
                phrase=HTTPStatus(answer.status).phrase,
                media_type=answer.media_type or "",
                fields=[row for shape in answer.shapes for row in field_rows(schemas, schemas.of(shape))],
            )
            for answer in answers(route)
        ],
        refusals=refusals(route),
        limits=[describe_limit(limit) for limit in route.limits],
        command=command,
        variables=variables(command),
    )


def _parameters(route: Route, schemas: Schemas) -> list[FieldRow]:
    return [
        FieldRow(
            name=parameter["name"],
            takes=takes(schemas, parameter["schema"]),
            is_required=parameter["required"],
            remarks=remarks(parameter["schema"] | {"description": parameter.get("description", "")}),
        )
        for parameter in parameters_of(route, schemas)
    ]
