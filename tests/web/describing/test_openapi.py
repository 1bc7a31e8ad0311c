"""The OpenAPI document: complete, consistent, and cacheable."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from core.errors import ErrorCode
from entrypoints import capabilities
from entrypoints.web.describing.documented_errors import CREDENTIAL_REFUSALS, refusals
from entrypoints.web.describing.openapi import describe, operation_id, path_template
from entrypoints.web.describing.schemas import answers
from entrypoints.web.serving.access_policies import CredentialKind
from entrypoints.web.serving.answers import encode
from tests import specimen
from tests.application import VERSION, Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entrypoints.web.serving.routes import Route

BASE_URL = "https://id.example.com"


def every_route() -> list[Route]:
    """Return all routes, and those of the specimen, which use every kind of declaration."""
    return [*capabilities.routes(is_development=True), *specimen.routes.routes]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document, as it is sent."""
    return json.loads(encode(describe(every_route(), base_url=BASE_URL, version=VERSION)))


def operation(document: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    """Return an operation."""
    return document["paths"][path][method]


def component(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema."""
    return document["components"]["schemas"][name]


def resolved(document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the response that a reference names, or the response itself."""
    return document["components"]["responses"][answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer


def everything_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a document."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from everything_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from everything_in(part)


def test_the_document_names_its_version_title_and_server(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["title"] == "Gatehouse"
    assert document["info"]["version"] == VERSION
    assert document["servers"] == [{"url": BASE_URL}]


def test_every_declared_route_is_described(document: dict[str, Any]) -> None:
    for route in every_route():
        described = operation(document, route.method.lower(), path_template(route))

        assert described["operationId"] == operation_id(route), route.name
        assert described["tags"] == [route.capability], route.name
        assert described["summary"], route.name
        assert str(route.status) in described["responses"], route.name


def test_no_undeclared_route_is_described(document: dict[str, Any]) -> None:
    described = {(method, path) for path, methods in document["paths"].items() for method in methods}

    assert described == {(route.method.lower(), path_template(route)) for route in every_route()}


def test_operation_ids_are_unique_and_valid_identifiers() -> None:
    ids = [operation_id(route) for route in every_route()]

    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) for name in ids)


def test_every_reference_has_a_target(document: dict[str, Any]) -> None:
    # A property may have this name too, and an example of it has an address.
    named = {part["$ref"] for part in everything_in(document) if isinstance(part.get("$ref"), str)}
    references = {reference for reference in named if not reference.startswith("https:")}

    for reference in references:
        target: Any = document
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
        assert target
    assert references


def test_every_variable_part_of_a_path_is_a_parameter(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for described in methods.values():
            declared = [one["name"] for one in described.get("parameters", []) if one["in"] == "path"]
            assert declared == re.findall(r"{([^}]+)}", path)


def test_every_answer_has_a_description(document: dict[str, Any]) -> None:
    answers = [
        answer
        for methods in document["paths"].values()
        for described in methods.values()
        for answer in described["responses"].values()
    ]

    assert all(answer.get("description") or "$ref" in answer for answer in answers)


def test_every_required_security_scheme_is_defined(document: dict[str, Any]) -> None:
    required = {name for part in everything_in(document["paths"]) for one in part.get("security", []) for name in one}

    assert required <= set(document["components"]["securitySchemes"])


def test_every_kind_of_credential_has_a_security_scheme(document: dict[str, Any]) -> None:
    defined = document["components"]["securitySchemes"]

    assert set(defined) == {kind.name.lower() for kind in CredentialKind if kind is not CredentialKind.NONE}


def test_every_error_code_is_listed(document: dict[str, Any]) -> None:
    codes = component(document, "Error")["properties"]["error_code"]["enum"]

    assert codes == [code.name for code in ErrorCode]


def test_the_refusals_of_every_kind_of_credential_are_declared() -> None:
    assert set(CREDENTIAL_REFUSALS) == set(CredentialKind)


def test_every_tag_is_described(document: dict[str, Any]) -> None:
    descriptions = {tag["name"]: tag["description"] for tag in document["tags"]}

    assert list(descriptions) == list(dict.fromkeys(route.capability for route in every_route()))
    assert all(descriptions.values())


def test_no_internal_document_is_cited(document: dict[str, Any]) -> None:
    text = json.dumps(document)

    assert "(operations " not in text
    assert "(identity " not in text
    assert "(decisions " not in text


def test_a_public_route_requires_no_credential_and_another_one_its_own(document: dict[str, Any]) -> None:
    assert operation(document, "get", "/boats/state")["security"] == []
    assert operation(document, "post", "/boats")["security"] == [{"access_token": []}]


def test_ids_and_texts_in_a_path_have_different_schemas(document: dict[str, Any]) -> None:
    parameters = operation(document, "delete", "/boats/{slug}/{boat_id}")["parameters"]

    assert [one["schema"]["type"] for one in parameters] == ["string", "string"]
    assert [one["schema"].get("format") for one in parameters] == [None, "uuid"]


def test_the_fields_of_a_query_are_parameters(document: dict[str, Any]) -> None:
    parameters = {one["name"]: one for one in operation(document, "get", "/boats/{slug}/all")["parameters"]}

    assert parameters["page"]["in"] == "query"
    assert parameters["page"]["description"]
    assert parameters["page"]["schema"] == {"type": "integer", "minimum": 1, "default": 1, "examples": [1]}
    assert not parameters["page"]["required"]
    assert "BoatSearch" not in document["components"]["schemas"]


def test_a_body_is_described_with_its_limits(document: dict[str, Any]) -> None:
    body = operation(document, "post", "/boats")["requestBody"]
    name = component(document, "BoatWanted")["properties"]["name"]

    assert body["required"] is True
    assert body["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/BoatWanted"}
    assert (name["minLength"], name["maxLength"]) == (1, 100)


def test_every_time_has_the_date_time_format(document: dict[str, Any]) -> None:
    boat = component(document, "Boat")["properties"]
    time = {"type": "string", "format": "date-time"}

    assert boat["launched_at"] == time
    assert time in boat["sold_at"]["anyOf"]
    assert boat["repainted_at"]["items"] == time
    assert component(document, "Sail")["properties"]["sewn_at"] == time
    assert time.items() <= component(document, "Error")["properties"]["timestamp"].items()


def test_an_answer_with_another_status_or_media_type_is_described_beside_the_first(document: dict[str, Any]) -> None:
    state = operation(document, "get", "/boats/state")["responses"]
    picture = operation(document, "get", "/boats/picture")["responses"]

    assert set(state["200"]["content"]["application/json"]["schema"].values()) == {"#/components/schemas/Afloat"}
    assert set(state["410"]["content"]["application/json"]["schema"].values()) == {"#/components/schemas/Sunk"}
    assert set(picture["200"]["content"]) == {"application/json", "image/png"}


def test_an_answer_without_a_body_has_no_content(document: dict[str, Any]) -> None:
    assert "content" not in operation(document, "delete", "/boats/{slug}/{boat_id}")["responses"]["204"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GET /boats/picture", set()),
        ("GET /boats/state", {"BAD_REQUEST"}),
        (
            "DELETE /boats/:slug/:boat_id",
            {"NOT_FOUND", "UNAUTHORIZED", "TOKEN_EXPIRED", "JWT_ERROR", "FORBIDDEN", "RATE_LIMIT_EXCEEDED"},
        ),
        (
            "POST /boats",
            {
                "BAD_REQUEST",
                "REQUEST_TIMEOUT",
                "PAYLOAD_TOO_LARGE",
                "UNSUPPORTED_MEDIA_TYPE",
                "UNAUTHORIZED",
                "TOKEN_EXPIRED",
                "JWT_ERROR",
                "FORBIDDEN",
                "RATE_LIMIT_EXCEEDED",
                "SERVICE_LIMIT_EXCEEDED",
                "CONFLICT",
            },
        ),
    ],
)
def test_the_error_codes_of_a_route_are_derived_from_its_declaration(name: str, expected: set[str]) -> None:
    route = next(route for route in specimen.routes.routes if route.name == name)

    codes = {refused.code.name for refused in refusals(route)}

    assert codes - {"INTERNAL_SERVER_ERROR", "DATABASE_ERROR", "SERVICE_UNAVAILABLE"} == expected


def test_error_codes_with_the_same_status_are_described_together(document: dict[str, Any]) -> None:
    reference = operation(document, "post", "/boats")["responses"]["400"]["$ref"]
    name = reference.rpartition("/")[2]
    response = document["components"]["responses"][name]

    assert name == "BadRequestOrServiceLimitExceededError"
    assert response["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{name}"}
    codes = component(document, name)["properties"]["error_code"]["enum"]
    assert codes == ["BAD_REQUEST", "SERVICE_LIMIT_EXCEEDED"]
    assert ErrorCode.SERVICE_LIMIT_EXCEEDED.meaning in response["description"]


def test_a_body_of_an_error_lists_invalid_fields_only_where_the_input_may_be_invalid(document: dict[str, Any]) -> None:
    assert "details" in component(document, "InputError")["properties"]
    assert "details" not in component(document, "NotFoundError")["properties"]


def test_several_answers_of_one_status_are_alternatives(document: dict[str, Any]) -> None:
    answered = operation(document, "post", "/api/auth/login")["responses"]["200"]["content"]["application/json"]

    assert answered["schema"] == {
        "anyOf": [
            {"$ref": "#/components/schemas/SignInTokens"},
            {"$ref": "#/components/schemas/PendingSecondFactor"},
        ]
    }
    # A client takes the first alternative that fits.
    assert "device_token" in component(document, "SignInTokens")["required"]
    assert "mfa_required" not in component(document, "SignInTokens")["properties"]
    assert component(document, "PendingSecondFactor")["properties"]["mfa_required"]["const"] is True
    assert "device_token" not in component(document, "PendingSecondFactor")["properties"]


def test_a_page_and_its_errors_are_html_and_its_form_is_described(document: dict[str, Any]) -> None:
    submit = operation(document, "post", "/auth/reset-password")
    form = submit["requestBody"]["content"]["application/x-www-form-urlencoded"]
    refused = document["components"]["responses"][submit["responses"]["400"]["$ref"].rpartition("/")[2]]

    assert form["schema"] == {"$ref": "#/components/schemas/PasswordResetForm"}
    assert set(submit["responses"]["200"]["content"]) == {"text/html"}
    assert set(refused["content"]) == {"text/html", "application/json"}


def test_a_redirect_says_where_to(document: dict[str, Any]) -> None:
    assert "Location" in operation(document, "get", "/invitations/accept")["responses"]["301"]["headers"]
    assert "Location" not in operation(document, "get", "/openapi.json")["responses"]["304"]["headers"]


def test_every_operation_in_an_organization_may_be_forbidden(document: dict[str, Any]) -> None:
    for route in every_route():
        if route.who.operation is None:
            continue
        codes = {refused.code for refused in refusals(route)}

        assert ErrorCode.FORBIDDEN in codes, route.name
        assert "403" in operation(document, route.method.lower(), path_template(route))["responses"], route.name


def test_whatever_is_always_answered_is_required(document: dict[str, Any]) -> None:
    assert set(component(document, "EmailLookupResult")["required"]) == set(
        component(document, "EmailLookupResult")["properties"]
    )
    assert "method" not in component(document, "SignInTokens")["required"]
    assert component(document, "RoleCreation")["required"] == ["slug", "name", "permissions"]


def test_a_parameter_of_a_query_is_never_null(document: dict[str, Any]) -> None:
    parameters = [part for part in everything_in(document["paths"]) if part.get("in") == "query"]

    assert parameters
    assert [part for part in parameters if "null" in json.dumps(part["schema"])] == []


def test_a_temporary_refusal_has_a_retry_after_header(document: dict[str, Any]) -> None:
    responses = document["components"]["responses"]

    assert "Retry-After" in responses["RateLimitExceededError"]["headers"]
    assert "Retry-After" in responses["ServiceUnavailableError"]["headers"]
    assert "Retry-After" not in responses["NotFoundError"]["headers"]


async def test_the_service_returns_its_own_document_without_a_credential(client: Client) -> None:
    answer = await client.get("/openapi.json")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["servers"] == [{"url": "http://localhost:8000"}]
    assert answer.json["info"]["version"] == VERSION
    assert "/openapi.json" in answer.json["paths"]


async def test_pages_are_described_only_when_they_are_asked_for(client: Client) -> None:
    interface = (await client.get("/openapi.json")).json
    everything = (await client.get("/openapi.json?pages=true")).json

    pages = {route.path for route in capabilities.routes(is_development=True) if route.is_page}
    assert {"/app/sign-in", "/auth/authorize", "/docs"} <= pages
    assert not [path for path in interface["paths"] if path in pages and "get" in interface["paths"][path]]
    assert set(interface["paths"]) < set(everything["paths"])
    assert pages <= {re.sub(r"{([^}]+)}", r":\1", path) for path in everything["paths"]}
    assert "text/html" not in json.dumps(interface)
    assert "SignInForm" not in interface["components"]["schemas"]


def test_no_answer_of_the_interface_for_programs_is_html() -> None:
    html = [
        route.name
        for route in capabilities.routes(is_development=True)
        if not route.is_page and any(one.media_type == "text/html" for one in answers(route))
    ]

    assert html == []


def test_every_body_has_a_schema_and_every_one_of_json_an_example(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for described in methods.values():
            for status, answer in described["responses"].items():
                for media_type, content in resolved(document, answer).get("content", {}).items():
                    where = (path, status, media_type)
                    assert content.get("schema") or media_type.startswith("image/"), where
                    is_download = path.endswith("/download") or path == "/boats/picture"
                    assert not media_type.endswith("json") or is_download or {"example", "examples"} & set(content), (
                        where
                    )


def test_json_lines_are_a_text_of_values(document: dict[str, Any]) -> None:
    answer = operation(document, "get", "/api/organizations/{org_slug}/audit-log/export")["responses"]["200"]
    content = answer["content"]["application/x-ndjson"]

    assert (content["schema"]["type"], content["schema"]["contentMediaType"]) == ("string", "application/x-ndjson")
    assert content["schema"]["contentSchema"]["items"]["anyOf"] == [
        {"$ref": "#/components/schemas/ExportedAuditEntry"},
        {"$ref": "#/components/schemas/AuditLogProof"},
    ]
    assert [sorted(json.loads(line)) for line in content["example"].splitlines()] == [
        sorted(component(document, name)["properties"]) for name in ("ExportedAuditEntry", "AuditLogProof")
    ]


def test_xml_is_a_text(document: dict[str, Any]) -> None:
    answer = operation(document, "get", "/saml/{org_slug}/{service_slug}/metadata")["responses"]["200"]

    assert answer["content"]["application/samlmetadata+xml"]["schema"] == {
        "type": "string",
        "contentMediaType": "application/samlmetadata+xml",
    }


def test_what_a_request_can_leave_out_of_a_resource_of_scim_is_not_required(document: dict[str, Any]) -> None:
    required = {
        name: component(document, name)["required"]
        for name in ("ScimUser", "ScimGroup", "ScimMeta", "ScimName", "ScimEmail", "ScimMember", "ScimUserList")
    }

    assert required == {
        "ScimUser": ["schemas", "id"],
        "ScimGroup": ["schemas", "id"],
        **{name: [] for name in ("ScimMeta", "ScimName", "ScimEmail", "ScimMember")},
        "ScimUserList": ["schemas", "totalResults", "startIndex", "itemsPerPage", "Resources"],
    }


async def test_an_unchanged_document_is_not_sent_again(client: Client) -> None:
    first = await client.get("/openapi.json")

    second = await client.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]})

    assert first.headers["Cache-Control"] == "no-cache"
    assert second.status == 304
    assert second.content == b""
    assert second.headers["ETag"] == first.headers["ETag"]


async def test_the_document_is_compressed_for_a_client_that_accepts_gzip(client: Client) -> None:
    plain = await client.get("/openapi.json")

    compressed = await client.get("/openapi.json", headers={"Accept-Encoding": "gzip, br"})
    refused = await client.get("/openapi.json", headers={"Accept-Encoding": "gzip;q=0"})

    assert "Content-Encoding" not in plain.headers
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.content) == plain.content
    assert refused.content == plain.content
    assert plain.headers["Vary"] == compressed.headers["Vary"] == "Accept-Encoding"
