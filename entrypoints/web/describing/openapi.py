"""The OpenAPI 3.1 document, generated from the declarations of the routes.

Paths, parameters, bodies, responses, credentials and the error codes of a route all follow from its declaration. The
HTML reference is in `entrypoints/pages/reference/`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final

from quart import Response

from core.limits import PASSWORD_CHARACTERS_MIN
from entrypoints.installation import Installation
from entrypoints.web.describing import event_payloads
from entrypoints.web.describing.areas import introductions
from entrypoints.web.describing.documented_errors import all_codes
from entrypoints.web.describing.documented_responses import HEADERS, Errors, responses_of
from entrypoints.web.describing.examples import example
from entrypoints.web.describing.schemas import Schema, Schemas
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import JSON, AnswerStatus, Error, Media, encode
from entrypoints.web.serving.answering.documents import Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes, is_id

routes = Routes("reference", "This reference, as a page and as an OpenAPI document.")

INTRODUCTION: Final = (
    "A self-hosted identity platform.\n\n"
    "Every error has the body `Error`; each response lists the codes that it may have. Besides the errors of an"
    " operation, any request may be refused because it is not valid HTTP (400, 408, 413) or because the path does not"
    " have its method (405).\n\n"
    "The pages for people are in `/openapi.json?pages=true`."
)
OPENAPI_VERSION: Final = "3.1.0"


class DescriptionQuery(Query, kw_only=True):
    """What to describe besides the interface for programs."""

    pages: bool = False


EXAMPLE: Final = {"openapi": OPENAPI_VERSION, "info": {"title": "Gatehouse", "version": "1.0.0"}, "paths": {}}


@routes.get("/openapi.json")
@public
async def openapi(
    call: Call, query: DescriptionQuery
) -> Annotated[Response, Media(JSON, example=EXAMPLE)] | Annotated[None, AnswerStatus(304)]:
    """Describe the interface for programs as an OpenAPI 3.1 document; with `pages`, the pages for people too."""
    document = await generated_once(call, _write_with_pages if query.pages else _write)
    return document.response(call)


def _write(routes: tuple[Route, ...], installation: Installation) -> Document:
    return _write_with_pages(tuple(route for route in routes if not route.is_page), installation)


def _write_with_pages(routes: tuple[Route, ...], installation: Installation) -> Document:
    described = describe(
        routes,
        base_url=installation.settings.base_url,
        version=installation.version,
        password_minimum=installation.password_rules.characters_min,
    )
    return Document.of(encode(described), media_type=JSON)


def describe(
    routes: Iterable[Route], *, base_url: str, version: str, password_minimum: int = PASSWORD_CHARACTERS_MIN
) -> dict[str, Any]:
    """Return the OpenAPI document of the routes."""
    routes = tuple(routes)
    schemas = Schemas(routes, delivered=event_payloads.shapes(), password_minimum=password_minimum)
    errors = Errors(schemas)
    schemas.resolved(schemas.of(Error))["properties"]["error_code"] |= all_codes()
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for route in routes:
        paths[route.path_template][route.method.lower()] = _operation(route, schemas, errors)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "Gatehouse",
            "version": version,
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [
            {"name": capability, "description": introduction}
            for capability, introduction in introductions(routes).items()
        ],
        "paths": paths,
        "webhooks": event_payloads.described_webhooks(schemas),
        "components": {
            "schemas": dict(sorted((schemas.components() | errors.bodies).items())),
            "responses": errors.responses,
            "headers": HEADERS,
            "securitySchemes": {
                _scheme_name(kind): kind.security_scheme for kind in CredentialKind if kind.security_scheme is not None
            },
        },
    }


def _operation(route: Route, schemas: Schemas, errors: Errors) -> dict[str, Any]:
    documentation = route.documentation
    operation: dict[str, Any] = {
        "operationId": route.operation_id,
        "tags": [route.capability],
        "summary": documentation.partition("\n")[0].removesuffix("."),
        "description": documentation,
        "security": [{_scheme_name(kind): []} for kind in _credentials(route)],
        "responses": responses_of(route, schemas, errors),
    }
    parameters = parameters_of(route, schemas)
    if parameters:
        operation["parameters"] = parameters
    if route.sent is not None:
        schema = schemas.of(route.sent)
        # In one media type, the first in which it may be sent: generated clients would send it in several at once.
        operation["requestBody"] = {
            "required": bool(schemas.resolved(schema).get("required")),
            "content": {route.media_types[0]: {"schema": schema, "example": example(schemas, schema)}},
        }
    return operation


def _credentials(route: Route) -> list[CredentialKind]:
    """List the credentials of which the route takes any one; none for a public route."""
    kinds = [] if route.who.kind is CredentialKind.NONE else [route.who.kind]
    if route.who.takes_key:
        kinds.append(CredentialKind.ORGANIZATION_KEY)
    return [*kinds, CredentialKind.BROWSER_SESSION] if route.who.takes_browser else kinds


def parameters_of(route: Route, schemas: Schemas) -> list[dict[str, Any]]:
    """Return the parameters of the path, then of the query."""
    return [*_path_parameters(route, schemas), *_query_parameters(route, schemas)]


def _path_parameters(route: Route, schemas: Schemas) -> Iterator[dict[str, Any]]:
    for name, kind in route.path_parameters.items():
        schema = {"type": "string", "format": "uuid"} if is_id(kind) else {"type": "string"}
        yield _parameter("path", name, schemas.described(schema, route.operation_id, name), is_required=True)


def _query_parameters(route: Route, schemas: Schemas) -> Iterator[dict[str, Any]]:
    if route.query is None:
        return
    query = schemas.resolved(schemas.of(route.query))
    for name, schema in query["properties"].items():
        yield _parameter("query", name, _without_null(schema), is_required=name in query["required"])


def _parameter(place: str, name: str, schema: Schema, *, is_required: bool) -> dict[str, Any]:
    described = {"description": schema["description"]} if "description" in schema else {}
    bare = {keyword: value for keyword, value in schema.items() if keyword != "description"}
    return {"name": name, "in": place, "required": is_required, **described, "schema": bare}


def _without_null(schema: Schema) -> Schema:
    """Return the schema of a parameter, which is left out rather than null."""
    if "anyOf" not in schema:
        return schema
    parts = [part for part in schema["anyOf"] if part.get("type") != "null"]
    rest = {keyword: value for keyword, value in schema.items() if keyword not in {"anyOf", "default"}}
    return rest | (parts[0] if len(parts) == 1 else {"anyOf": parts})


def _scheme_name(kind: CredentialKind) -> str:
    return kind.name.lower()
