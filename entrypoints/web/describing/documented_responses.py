"""The responses of each route in the OpenAPI document, and their headers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from http import HTTPStatus
from typing import Any, Final

from core.lazy_dataclasses import dataclass
from entrypoints.web.describing.documented_errors import ErrorGroup, error_groups, error_schema, meanings
from entrypoints.web.describing.examples import answer_example
from entrypoints.web.describing.schemas import REFERENCE, DocumentedAnswer, Schema, Schemas, answers
from entrypoints.web.serving.answering.answers import JSON, Error, encode
from entrypoints.web.serving.answering.oauth import OauthError, name_of_code
from entrypoints.web.serving.routes import Route

# The kinds of errors in the examples of SCIM (RFC 7644, 3.12).
_SCIM_TYPES: Final = {400: "invalidValue", 409: "uniqueness"}
_RESPONSES: Final = "#/components/responses/"
_HEADERS: Final = "#/components/headers/"


def _header(text: str, *, required: bool = True, **schema: Any) -> dict[str, Any]:
    return {"description": text, "required": required, "schema": {"type": "string"} | schema}


HEADERS: Final[dict[str, Any]] = {
    "X-Request-Id": _header("The id of this request. Its lines in the service's log have the same id."),
    "Retry-After": _header("The number of seconds to wait before trying again.", type="integer", minimum=1),
    "Location": _header("Where to continue.", format="uri-reference"),
    "Link": _header('The page that explains the error code, with `rel="help"` (RFC 8288).'),
    "WWW-Authenticate": _header("What kind of token is missing, or why the one sent is refused (RFC 6750)."),
    "ClientChallenge": _header(
        "How a client authenticates, where it has tried to by the Authorization header (RFC 6749, 5.2); or why a token"
        " is refused (RFC 6750).",
        required=False,
    ),
}


def responses_of(route: Route, schemas: Schemas, errors: Errors) -> dict[str, Any]:
    """Return the route's responses by status; errors with the same codes share one response."""
    by_status = _answers(route, schemas)
    for group in error_groups(route):
        # A declared response takes precedence over errors with the same status.
        by_status.setdefault(str(group.status), errors.reference(group, route))
    return by_status


def _answers(route: Route, schemas: Schemas) -> dict[str, Any]:
    by_status: dict[str, Any] = {}
    shapes: dict[int, list[Schema]] = defaultdict(list)
    for answer in answers(route):
        response = by_status.setdefault(str(answer.status), _response(HTTPStatus(answer.status).phrase))
        if answer.status // 100 == 3 and answer.status != HTTPStatus.NOT_MODIFIED:
            response["headers"]["Location"] = {"$ref": _HEADERS + "Location"}
        if answer.shape is not None:
            shapes[answer.status].append(schemas.of(answer.shape))
            response.setdefault("content", {})[answer.media_type] = _json(schemas, shapes[answer.status])
        elif answer.lines:
            response.setdefault("content", {})[answer.media_type] = _json_lines(schemas, answer)
        elif answer.media_type is not None:
            described = {} if answer.example is None else {"example": answer.example}
            response.setdefault("content", {})[answer.media_type] = _document(answer.media_type) | described
    return by_status


def _json(schemas: Schemas, several: list[Schema]) -> dict[str, Any]:
    """Return the description of a body that has one of these schemas, with an example of each."""
    if len(several) == 1:
        return {"schema": several[0], "example": answer_example(schemas, several[0])}
    examples = {_name(schema): {"value": answer_example(schemas, schema)} for schema in several}
    return {"schema": {"anyOf": several}, "examples": examples}


def _json_lines(schemas: Schemas, answer: DocumentedAnswer) -> dict[str, Any]:
    """Return the description of JSON lines: a text that contains values of these types."""
    lines = [schemas.of(line) for line in answer.lines]
    schema = {
        "type": "string",
        "description": f"Lines of JSON: {', then '.join(f'`{_name(line)}`' for line in lines)}.",
        "contentMediaType": answer.media_type,
        "contentSchema": {"type": "array", "items": {"anyOf": lines}},
    }
    text = "".join(f"{encode(answer_example(schemas, line)).decode()}\n" for line in lines)
    return {"schema": schema, "example": text}


def _name(schema: Schema) -> str:
    return schema["$ref"].removeprefix(REFERENCE)


def _document(media_type: str) -> dict[str, Any]:
    """Return the description of a body that is not made from a type."""
    if media_type.endswith("json"):
        return {"schema": {"type": "object", "additionalProperties": True}}
    if media_type.endswith("xml"):
        return {"schema": {"type": "string", "contentMediaType": media_type}}
    return {"schema": {"type": "string"}} if media_type.startswith("text/") else {}


@dataclass(frozen=True, slots=True)
class Errors:
    """The error responses that references name, and the schemas of their bodies."""

    schemas: Schemas
    responses: dict[str, Any] = field(default_factory=dict[str, Any])
    bodies: dict[str, Schema] = field(default_factory=dict[str, Schema])

    def reference(self, group: ErrorGroup, route: Route) -> dict[str, str]:
        """Return a reference to the response with these codes; on a page it is HTML, unless JSON is requested."""
        if route.dialect is not None:
            return self._reference_to(group, route.dialect.failure, route.dialect.media_type)
        if route.refusal_body is not None:
            return self._reference_to(group, route.refusal_body, JSON)
        is_page = route.refusal_page is not None
        self.bodies.setdefault(group.name, error_schema(group, self.schemas))
        name = f"{group.name}Page" if is_page else group.name
        if name not in self.responses:
            self.responses[name] = self._response(group, is_page=is_page)
        return {"$ref": _RESPONSES + name}

    def _reference_to(self, group: ErrorGroup, body: type[Any], media_type: str) -> dict[str, str]:
        """Return a reference to the response with these codes, whose body has a shape of its own."""
        failure = self.schemas.name_of(body)
        name = f"{group.name}{failure}"
        if name not in self.responses:
            schema = {"$ref": REFERENCE + failure}
            content = {media_type: {"schema": schema, "example": self._example(group, schema)}}
            has_code = "error_code" in self.schemas.resolved(schema)["properties"]
            described = self._described(group, is_page=False, has_code=has_code)
            if failure == OauthError.__name__ and "WWW-Authenticate" in described["headers"]:
                described["headers"]["WWW-Authenticate"] = {"$ref": _HEADERS + "ClientChallenge"}
            self.responses[name] = described | {"content": content}
        return {"$ref": _RESPONSES + name}

    def _response(self, group: ErrorGroup, *, is_page: bool) -> dict[str, Any]:
        response = self._described(group, is_page=is_page)
        example = self._example(group, self.schemas.of(Error), set(self.bodies[group.name]["properties"]))
        content = {JSON: {"schema": {"$ref": REFERENCE + group.name}, "example": example}}
        return response | {"content": {"text/html": _document("text/html"), **content} if is_page else content}

    def _example(self, group: ErrorGroup, schema: Schema, fields: set[str] | None = None) -> dict[str, Any]:
        """Return an example of a body with these fields, or with all, for the first of the codes."""
        code = group.codes[0]
        known = {
            "error": name_of_code(code) if _name(schema) == OauthError.__name__ else code.meaning,
            "error_code": code.name,
            "error_description": code.meaning,
            "detail": code.meaning,
            "status": code.status,
            "scimType": _SCIM_TYPES.get(code.status),
        }
        body = answer_example(self.schemas, schema) | known
        names = self.schemas.resolved(schema)["properties"].keys() if fields is None else fields
        return {name: value for name, value in body.items() if name in names and value is not None}

    def _described(self, group: ErrorGroup, *, is_page: bool, has_code: bool = True) -> dict[str, Any]:
        response = _response(meanings(group))
        if has_code and not is_page:
            response["headers"]["Link"] = {"$ref": _HEADERS + "Link"}
        if group.is_temporary:
            response["headers"]["Retry-After"] = {"$ref": _HEADERS + "Retry-After"}
        if group.status == HTTPStatus.UNAUTHORIZED and not is_page:
            response["headers"]["WWW-Authenticate"] = {"$ref": _HEADERS + "WWW-Authenticate"}
        return response


def _response(description: str) -> dict[str, Any]:
    return {"description": description, "headers": {"X-Request-Id": {"$ref": _HEADERS + "X-Request-Id"}}}
