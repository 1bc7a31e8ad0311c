"""What the OpenAPI document says of one operation: its input, its answers, and its refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import ErrorCode
from entrypoints.web.describing.documented_errors import refusals
from tests import specimen
from tests.shown_text import shows
from tests.web.describing.openapi_documents import component, every_route, everything_in, operation, resolved


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
        assert "403" in operation(document, route.method.lower(), route.path_template)["responses"], route.name


def test_whatever_is_always_answered_is_required(document: dict[str, Any]) -> None:
    assert set(component(document, "EmailLookupResult")["required"]) == set(
        component(document, "EmailLookupResult")["properties"]
    )
    assert "method" not in component(document, "SignInTokens")["required"]
    assert component(document, "RoleCreation")["required"] == ["slug", "name", "permissions"]


def test_a_parameter_of_a_query_is_never_null(document: dict[str, Any]) -> None:
    parameters = [part for part in everything_in(document["paths"]) if part.get("in") == "query"]

    assert parameters
    assert [part for part in parameters if shows(json.dumps(part["schema"]), "null")] == []


def test_a_temporary_refusal_has_a_retry_after_header(document: dict[str, Any]) -> None:
    responses = document["components"]["responses"]

    assert "Retry-After" in responses["RateLimitExceededError"]["headers"]
    assert "Retry-After" in responses["ServiceUnavailableError"]["headers"]
    assert "Retry-After" not in responses["NotFoundError"]["headers"]


def test_every_body_has_a_schema_and_every_one_of_json_an_example(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for described in methods.values():
            for status, answer in described["responses"].items():
                for media_type, content in resolved(document, answer).get("content", {}).items():
                    where = (path, status, media_type)
                    assert content.get("schema") or media_type.startswith(("image/", "font/", "application/zip")), where
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
