"""The OpenAPI document: complete, consistent, and cacheable."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

from core.errors import ErrorCode
from core.events.data import Place, keys_of
from core.events.declared_data import DATA
from core.events.events import EventType
from entrypoints import capabilities
from entrypoints.web.describing.documented_errors import CREDENTIAL_REFUSALS
from entrypoints.web.describing.schemas import answers
from entrypoints.web.serving.admission.access_policies import CredentialKind
from tests.application import VERSION, Client
from tests.declared_events import differences
from tests.web.describing.openapi_documents import BASE_URL, component, every_route, everything_in, operation


def test_the_document_names_its_version_title_and_server(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["title"] == "Gatehouse"
    assert document["info"]["version"] == VERSION
    assert document["servers"] == [{"url": BASE_URL}]


def test_every_declared_route_is_described(document: dict[str, Any]) -> None:
    for route in every_route():
        described = operation(document, route.method.lower(), route.path_template)

        assert described["operationId"] == route.operation_id, route.name
        assert described["tags"] == [route.capability], route.name
        assert described["summary"], route.name
        assert str(route.status) in described["responses"], route.name


def test_no_undeclared_route_is_described(document: dict[str, Any]) -> None:
    described = {(method, path) for path, methods in document["paths"].items() for method in methods}

    assert described == {(route.method.lower(), route.path_template) for route in every_route()}


def test_each_type_of_event_is_a_webhook_with_its_data_and_an_example_of_them(document: dict[str, Any]) -> None:
    assert list(document["webhooks"]) == [event.value for event in EventType]
    for event, data in DATA.items():
        content = document["webhooks"][event.value]["post"]["requestBody"]["content"]["application/json"]
        whole, of_type = content["schema"]["allOf"]
        keys = [key for key in keys_of(data) if key.place is not Place.ENTRY]
        described = component(document, data.__name__)

        assert whole == {"$ref": "#/components/schemas/EventPayload"}
        assert of_type["properties"]["event"] == {"const": event.value}
        assert of_type["properties"]["data"] == {"$ref": f"#/components/schemas/{data.__name__}"}
        assert list(described["properties"]) == [key.name for key in keys]
        assert described["required"] == [key.name for key in keys if key.is_always_there]
        assert differences(event, Place.EVENT, content["example"]["data"], is_delivered=True) == []


def test_operation_ids_are_unique_and_valid_identifiers() -> None:
    ids = [route.operation_id for route in every_route()]

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
