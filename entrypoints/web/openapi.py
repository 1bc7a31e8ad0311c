"""The OpenAPI 3.1 document, generated from the declarations of the routes.

Paths, parameters, bodies, responses, credentials and the error codes of a route all follow from its declaration. The
HTML reference is in `entrypoints/pages/reference/`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final

from quart import Response

from core.errors import ErrorCode
from entrypoints.web.answers import JSON, Failure, Media, encode
from entrypoints.web.calls import Call
from entrypoints.web.credentials import CredentialKind, public
from entrypoints.web.documents import Document, generated_once
from entrypoints.web.routes import Route, Routes, is_id
from entrypoints.web.schemas import Schemas, answers, for_readers

routes = Routes("reference", "This reference, as a page and as an OpenAPI document.")

OPENAPI_VERSION: Final = "3.1.0"
_RESPONSES: Final = "#/components/responses/"
_HEADERS: Final = "#/components/headers/"

_TOKEN_REFUSALS: Final = (ErrorCode.UNAUTHORIZED, ErrorCode.TOKEN_EXPIRED, ErrorCode.JWT_ERROR)
CREDENTIAL_REFUSALS: Final[dict[CredentialKind, tuple[ErrorCode, ...]]] = {
    CredentialKind.NONE: (),
    CredentialKind.ACCESS_TOKEN: _TOKEN_REFUSALS,
    CredentialKind.PRE_AUTH_TOKEN: _TOKEN_REFUSALS,
    CredentialKind.API_KEY: (
        ErrorCode.UNAUTHORIZED,
        ErrorCode.FORBIDDEN,
        ErrorCode.ORGANIZATION_NOT_ACTIVE,
        ErrorCode.RATE_LIMIT_EXCEEDED,
    ),
    CredentialKind.SCIM_TOKEN: (ErrorCode.UNAUTHORIZED,),
    CredentialKind.SIGNATURE: (ErrorCode.UNAUTHORIZED,),
}
_BODY_REFUSALS: Final = (
    ErrorCode.BAD_REQUEST,
    ErrorCode.REQUEST_TIMEOUT,
    ErrorCode.PAYLOAD_TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
)
# The errors that any request may end in.
_FAILURES: Final = (ErrorCode.INTERNAL_SERVER_ERROR, ErrorCode.DATABASE_ERROR, ErrorCode.SERVICE_UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalDescription:
    """An error code that a route may refuse with, and the messages of the route's own refusals with this code."""

    code: ErrorCode
    messages: tuple[str, ...]


@routes.get("/openapi.json")
@public
async def openapi(call: Call) -> Annotated[Response, Media(JSON)]:
    """Describe every route as an OpenAPI 3.1 document."""
    document = await generated_once(_write)
    return document.response(call)


def _write(routes: tuple[Route, ...], base_url: str, version: str) -> Document:
    return Document.of(encode(describe(routes, base_url=base_url, version=version)), media_type=JSON)


def describe(routes: Iterable[Route], *, base_url: str, version: str) -> dict[str, Any]:
    """Return the OpenAPI document of the routes."""
    routes = tuple(routes)
    schemas = Schemas(routes)
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    responses: dict[str, Any] = {}
    for route in routes:
        paths[path_template(route)][route.method.lower()] = _operation(route, schemas, responses)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "Gatehouse",
            "version": version,
            "description": "A self-hosted identity platform.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [
            {"name": capability, "description": introduction}
            for capability, introduction in introductions(routes).items()
        ],
        "paths": paths,
        "components": {
            "schemas": schemas.components(),
            "responses": responses,
            "headers": _headers(),
            "securitySchemes": {
                _scheme_name(kind): kind.security_scheme for kind in CredentialKind if kind.security_scheme is not None
            },
        },
    }


def introductions(routes: Iterable[Route]) -> dict[str, str]:
    """Return each capability's introduction; if several modules share a capability, the first one counts."""
    found: dict[str, str] = {}
    for route in routes:
        found.setdefault(route.capability, for_readers(route.introduction))
    return found


def path_template(route: Route) -> str:
    """Return the path with its parameters in braces."""
    return route.rule.replace("<", "{").replace(">", "}")


def operation_id(route: Route) -> str:
    """Return the name of the route in generated clients: the capability, then the handler."""
    return re.sub(r"\W+", "_", f"{route.capability}_{route.handler.__name__}")


def refusals(route: Route) -> list[RefusalDescription]:
    """List every error code that the route may refuse with, ordered by status."""
    codes = {*_refusal_codes(route), *(refusal.code for refusal in route.refuses)}
    return [
        RefusalDescription(
            code=code,
            messages=tuple(dict.fromkeys(refusal.default_message for refusal in route.refuses if refusal.code is code)),
        )
        for code in sorted(ErrorCode, key=lambda code: code.status)
        if code in codes
    ]


def _refusal_codes(route: Route) -> Iterator[ErrorCode]:
    yield from CREDENTIAL_REFUSALS[route.who.kind]
    yield from _FAILURES
    if route.body is not None:
        yield from _BODY_REFUSALS
    if route.query is not None:
        yield ErrorCode.BAD_REQUEST
    if route.path_parameters:
        yield ErrorCode.NOT_FOUND
    if route.limits:
        yield ErrorCode.RATE_LIMIT_EXCEEDED


def _operation(route: Route, schemas: Schemas, responses: dict[str, Any]) -> dict[str, Any]:
    documentation = for_readers(route.documentation)
    operation: dict[str, Any] = {
        "operationId": operation_id(route),
        "tags": [route.capability],
        "summary": documentation.partition("\n")[0].removesuffix("."),
        "description": documentation,
        "security": [] if route.who.kind is CredentialKind.NONE else [{_scheme_name(route.who.kind): []}],
        "responses": _responses(route, schemas, responses),
    }
    parameters = [*_path_parameters(route), *_query_parameters(route, schemas)]
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {
            "required": bool(schemas.resolved(schemas.of(route.body)).get("required")),
            "content": {route.media_type: {"schema": schemas.of(route.body)}},
        }
    return operation


def _path_parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name, kind in route.path_parameters.items():
        schema = {"type": "string", "format": "uuid"} if is_id(kind) else {"type": "string"}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(route: Route, schemas: Schemas) -> Iterator[dict[str, Any]]:
    if route.query is None:
        return
    query = schemas.resolved(schemas.of(route.query))
    for name, schema in query["properties"].items():
        described = {"description": schema["description"]} if "description" in schema else {}
        yield {"name": name, "in": "query", "required": name in query["required"], **described, "schema": schema}


def _responses(route: Route, schemas: Schemas, shared: dict[str, Any]) -> dict[str, Any]:
    """Return the route's responses by status; refusals with the same codes share one component."""
    codes: dict[int, list[ErrorCode]] = defaultdict(list)
    for refused in refusals(route):
        codes[refused.code.status].append(refused.code)
    by_status: dict[str, Any] = {}
    for status, group in sorted(codes.items()):
        name = ".".join(code.name for code in group)
        shared.setdefault(name, _refusal(group, schemas))
        by_status[str(status)] = {"$ref": _RESPONSES + name}
    # A declared response takes precedence over refusals with the same status.
    own: dict[str, Any] = {}
    for answer in answers(route):
        response = own.setdefault(str(answer.status), _response(HTTPStatus(answer.status).phrase))
        if answer.media_type is not None:
            schema = {} if answer.shape is None else {"schema": schemas.of(answer.shape)}
            response.setdefault("content", {})[answer.media_type] = schema
    return own | {status: response for status, response in by_status.items() if status not in own}


def _refusal(codes: list[ErrorCode], schemas: Schemas) -> dict[str, Any]:
    narrowed = {"properties": {"error_code": {"enum": [code.name for code in codes]}}}
    response = _response("\n".join(f"- `{code.name}`: {code.meaning}" for code in codes))
    if codes[0].status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        response["headers"]["Retry-After"] = {"$ref": _HEADERS + "Retry-After"}
    return response | {"content": {JSON: {"schema": {"allOf": [schemas.of(Failure), narrowed]}}}}


def _response(description: str) -> dict[str, Any]:
    return {"description": description, "headers": {"X-Request-Id": {"$ref": _HEADERS + "X-Request-Id"}}}


def _headers() -> dict[str, Any]:
    return {
        "X-Request-Id": {
            "description": "The id of this request. Its lines in the service's log have the same id.",
            "required": True,
            "schema": {"type": "string"},
        },
        "Retry-After": {
            "description": "The number of seconds to wait before trying again.",
            "required": True,
            "schema": {"type": "integer", "minimum": 1},
        },
    }


def _scheme_name(kind: CredentialKind) -> str:
    return kind.name.lower()
