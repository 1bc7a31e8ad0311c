"""What the reference shows of each operation: its input, its answers, and programs to try it.

It is generated from the same declarations as the OpenAPI document (`entrypoints/web/describing/openapi.py`), so that
the two agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus

from core.lazy_dataclasses import dataclass
from core.limits import PASSWORD_CHARACTERS_MIN
from core.rate_limits import RateLimit
from entrypoints.pages.reference.examples import curl_example, python_example, variables
from entrypoints.pages.reference.field_rows import FieldRow, field_rows, remarks, takes
from entrypoints.web.describing.documented_errors import RefusalDescription, refusals
from entrypoints.web.describing.openapi import parameters_of
from entrypoints.web.describing.schemas import Schemas, answers
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route


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
    # Empty where the Python package has no function for it.
    python: str


def describe(
    routes: Iterable[Route],
    base_url: str,
    *,
    functions: Mapping[str, str],
    password_minimum: int = PASSWORD_CHARACTERS_MIN,
) -> list[RouteView]:
    """Describe the routes of a page; `functions` belong to the Python package, by the ids of operations."""
    routes = tuple(routes)
    # The schemas of all routes would take a second, and say the same of these.
    schemas = Schemas(routes, password_minimum=password_minimum)
    return [_route_view(route, schemas, base_url, functions.get(route.operation_id)) for route in routes]


def describe_limit(limit: RateLimit) -> str:
    """Describe a rate limit in words."""
    seconds, per_second = f"{limit.seconds_per_request:g}", round(1 / limit.seconds_per_request, 6)
    pace = "one per second" if seconds == "1" else f"one every {seconds} seconds"
    if per_second > 1 and per_second.is_integer():
        pace = f"{per_second:g} per second"
    return f"{limit.burst} requests at once, then {pace}"


def _route_view(route: Route, schemas: Schemas, base_url: str, function: str | None) -> RouteView:
    title, _, rest = route.documentation.partition("\n")
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
        python="" if function is None else python_example(route, function, schemas, base_url),
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
