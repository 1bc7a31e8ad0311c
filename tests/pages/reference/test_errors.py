"""The pages of the error codes, and the header of refusals that leads to them."""

from __future__ import annotations

import re
from html import unescape

import pytest

from core.errors import ErrorCode
from entrypoints.pages.reference.errors import example_of
from entrypoints.web.describing.documented_errors import refusals
from entrypoints.web.describing.error_advice import ADVICE
from entrypoints.web.serving.application import Application
from tests.application import Client

LINK = re.compile(r'<http://[^/>]+(/docs/errors/[A-Z_]+)>; rel="help"')


def test_each_code_has_one_advice_in_sentences() -> None:
    assert list(ADVICE) == list(ErrorCode)
    assert len(set(ADVICE.values())) == len(ErrorCode)
    for code, advice in ADVICE.items():
        assert re.fullmatch(r"[A-Z].{30,}\.", advice), code.name


async def test_each_code_has_a_page_with_its_operations_and_the_list_leads_there(
    client: Client, application: Application, subtests: pytest.Subtests
) -> None:
    listed = (await client.get("/docs/errors")).text
    of_programs = [route for route in application.paths.routes if not route.is_page]

    for code in ErrorCode:
        with subtests.test(code.name):
            answer = await client.get(f"/docs/errors/{code.name}")
            text = unescape(re.sub(r"<[^>]+>", "", answer.text))
            linked = set(re.findall(r'href="/docs/reference[^"]*#([^"]+)"', answer.text))
            answering = {route.operation_id for route in of_programs if code in {one.code for one in refusals(route)}}

            assert f'href="/docs/errors/{code.name}"' in listed
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert len(answer.content) < 300_000
            for shown in (code.meaning, ADVICE[code], str(code.status), f'"error_code": "{code.name}"'):
                assert shown.replace("`", "") in text
            assert linked == (answering if len(answering) < len(of_programs) else set())


async def test_the_page_of_a_code_is_found_in_lower_case_revalidated_and_missing_for_no_code(client: Client) -> None:
    page = await client.get("/docs/errors/CONFLICT")
    in_lower_case = await client.get("/docs/errors/conflict")
    again = await client.get("/docs/errors/CONFLICT", headers={"If-None-Match": page.headers["ETag"]})
    unknown = await client.get("/docs/errors/CONFLICTS")

    assert in_lower_case.content == page.content
    assert again.status == 304
    assert "default-src 'none'; style-src 'self'" in page.headers["Content-Security-Policy"]
    assert unknown.status == 404
    assert unknown.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_a_refusal_leads_to_the_page_of_its_code(client: Client) -> None:
    for method, path, code in (
        ("GET", "/nowhere", ErrorCode.NOT_FOUND),
        ("GET", "/api/user", ErrorCode.UNAUTHORIZED),
        ("PUT", "/api/auth/login", ErrorCode.METHOD_NOT_ALLOWED),
        ("POST", "/api/auth/login", ErrorCode.BAD_REQUEST),
        ("GET", "/auth/userinfo", ErrorCode.UNAUTHORIZED),
        ("POST", "/auth/token", ErrorCode.BAD_REQUEST),
    ):
        answer = await client.request(method, path)
        [page] = LINK.findall(answer.headers["Link"])

        assert answer.json["error_code"] == code.name, path
        assert page == f"/docs/errors/{code.name}"
        assert (await client.get(page)).status == 200
    scim = await client.get("/scim/v2/Users")
    assert scim.status == 401
    assert "Link" not in scim.headers


def test_an_example_has_the_headers_and_fields_of_its_code() -> None:
    limited = example_of(ErrorCode.RATE_LIMIT_EXCEEDED, "https://id.example.com")

    assert limited.startswith("429 Too Many Requests\nContent-Type: application/json\n")
    assert "\nRetry-After: 30\n" in limited
    assert '\nLink: <https://id.example.com/docs/errors/RATE_LIMIT_EXCEEDED>; rel="help"\n\n{\n' in limited
    assert '"customer_token"' in example_of(ErrorCode.CUSTOMER_REQUIRED, "https://id.example.com")
    assert '"connection_id"' in example_of(ErrorCode.SSO_REQUIRED, "https://id.example.com")
    assert '"details"' in example_of(ErrorCode.BAD_REQUEST, "https://id.example.com")
    assert 'WWW-Authenticate: Bearer error="invalid_token"' in example_of(ErrorCode.JWT_ERROR, "https://id.example.com")
