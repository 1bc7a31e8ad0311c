"""The headers of every response: the request id, the security headers, and the CORS headers for known origins."""

from typing import Annotated

import pytest
from quart import Response

from core.errors import Forbidden
from entrypoints.settings import Settings
from entrypoints.web.serving.admission.credentials import public, signed_in
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.answering.headers import CONTENT_SECURITY_POLICY
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.web.probe import Answer, ask, serving

APP = "https://app.example.com"
OTHER_APP = "https://app.example.com:8443"
WITH_ORIGINS = Settings(cors_origins=(APP, OTHER_APP))

routes = Routes("things", "Routes of this test.")


@routes.get("/thing")
@public
async def thing(call: Call) -> dict[str, str]:
    """Answer."""
    return {}


@routes.post("/thing")
@signed_in
async def change(call: Call) -> None:
    """Change."""


@routes.get("/kept")
@public
async def kept(call: Call) -> Annotated[Response, Media("text/html")]:
    """Answer with its own headers."""
    call.headers["Cache-Control"] = "public, max-age=60"
    response = Response(b"", content_type="text/html")
    response.headers["Content-Security-Policy"] = "default-src 'self'"
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    response.headers["Vary"] = "Accept"
    return response


@routes.get("/forbidden")
@public
async def forbidden(call: Call) -> None:
    """Refuse."""
    raise Forbidden


@routes.get("/broken")
@public
async def broken(call: Call) -> None:
    """Fail."""
    raise RuntimeError


EVERY_KIND_OF_ANSWER = pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/thing", 200),
        ("HEAD", "/thing", 200),
        ("OPTIONS", "/thing", 204),
        ("POST", "/thing", 401),
        ("GET", "/forbidden", 403),
        ("GET", "/nothing", 404),
        ("PUT", "/thing", 405),
        ("GET", "/broken", 500),
    ],
)


async def send(method: str, target: str, settings: Settings | None = None, **headers: str) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await ask(serving(routes, settings), method, target, headers=sent)


@EVERY_KIND_OF_ANSWER
async def test_every_answer_has_a_request_id_and_the_security_headers(method: str, target: str, status: int) -> None:
    answer = await send(method, target)

    assert answer.status == status
    assert len(answer.headers.getlist("X-Request-Id")) == 1
    assert answer.headers.getlist("X-Content-Type-Options") == ["nosniff"]
    assert answer.headers.getlist("X-Frame-Options") == ["DENY"]
    assert answer.headers.getlist("Referrer-Policy") == ["no-referrer"]
    assert answer.headers.getlist("Content-Security-Policy") == [CONTENT_SECURITY_POLICY]
    assert answer.headers.getlist("Cache-Control") == ["no-store"]
    assert "Server" not in answer.headers


async def test_a_header_that_a_handler_sets_is_neither_replaced_nor_repeated() -> None:
    answer = await send("GET", "/kept")

    assert answer.headers.getlist("Cache-Control") == ["public, max-age=60"]
    assert answer.headers.getlist("Content-Security-Policy") == ["default-src 'self'"]
    assert answer.headers.getlist("X-Frame-Options") == ["SAMEORIGIN"]


@EVERY_KIND_OF_ANSWER
async def test_an_https_base_url_adds_the_hsts_header(method: str, target: str, status: int) -> None:
    answer = await send(method, target, Settings(base_url="https://id.example.com"))

    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


async def test_an_http_base_url_adds_no_hsts_header() -> None:
    answer = await send("GET", "/thing", Settings(base_url="http://id.example.com"))

    assert "Strict-Transport-Security" not in answer.headers


@EVERY_KIND_OF_ANSWER
async def test_a_page_of_a_known_origin_may_read_every_answer(method: str, target: str, status: int) -> None:
    answer = await send(method, target, WITH_ORIGINS, Origin=APP)

    assert answer.headers["Access-Control-Allow-Origin"] == APP
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Access-Control-Expose-Headers"] == "X-Request-Id, Retry-After, Link"


@pytest.mark.parametrize(
    "origin",
    [
        "http://app.example.com",
        "https://app.example.com:443",
        "https://app.example.com.evil.example",
        "https://evil.example/https://app.example.com",
        "https://xapp.example.com",
        "https://sub.app.example.com",
        "https://app.example.com/",
        "HTTPS://APP.EXAMPLE.COM",
        f"{APP}, {OTHER_APP}",
        "null",
        "*",
        "",
    ],
)
async def test_a_page_of_another_origin_may_not_read_an_answer(origin: str) -> None:
    answer = await send("GET", "/thing", WITH_ORIGINS, Origin=origin)

    assert answer.status == 200
    assert not [name for name, _ in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("headers", [{}, {"Origin": APP}, {"Origin": "https://evil.example"}])
async def test_vary_names_the_origin(headers: dict[str, str]) -> None:
    answer = await send("GET", "/thing", WITH_ORIGINS, **headers)

    assert answer.headers.getlist("Vary") == ["Origin"]


async def test_vary_keeps_the_value_of_the_handler() -> None:
    answer = await send("GET", "/kept", WITH_ORIGINS, Origin=APP)

    assert answer.headers.getlist("Vary") == ["Accept", "Origin"]


async def test_without_known_origins_there_are_no_cors_headers() -> None:
    answer = await send("GET", "/thing", Origin=APP)

    assert "Vary" not in answer.headers
    assert not [name for name, _ in answer.headers if name.lower().startswith("access-control-")]


async def test_a_preflight_of_a_known_origin_lists_what_it_may_send() -> None:
    answer = await send(
        "OPTIONS",
        "/thing",
        WITH_ORIGINS,
        Origin=OTHER_APP,
        Access_Control_Request_Method="PATCH",
        Access_Control_Request_Headers="authorization, x-evil",
    )

    assert (answer.status, answer.content) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == OTHER_APP
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
    allowed = answer.headers["Access-Control-Allow-Headers"].split(", ")
    assert {"Authorization", "Content-Type", "X-Api-Key", "X-Device-Token"} <= set(allowed)
    assert "x-evil" not in allowed
    assert answer.headers["Access-Control-Max-Age"] == "600"


async def test_a_preflight_of_another_origin_has_no_cors_headers() -> None:
    answer = await send(
        "OPTIONS", "/thing", WITH_ORIGINS, Origin="https://evil.example", Access_Control_Request_Method="PATCH"
    )

    assert answer.status == 204
    assert not [name for name, _ in answer.headers if name.lower().startswith("access-control-")]


async def test_options_without_a_preflight_is_not_answered_as_one() -> None:
    answer = await send("OPTIONS", "/thing", WITH_ORIGINS, Origin=APP)

    assert "Access-Control-Allow-Methods" not in answer.headers


@pytest.mark.parametrize(
    ("origin", "is_allowed"),
    [
        ("http://localhost:5173", True),
        ("http://127.0.0.1:3000", True),
        ("http://[::1]:8080", True),
        ("https://app.localhost", True),
        ("http://localhost.evil.example", False),
        ("http://evil.example", False),
        ("http://[::1", False),
        ("null", False),
        ("", False),
    ],
)
async def test_in_development_pages_of_this_machine_may_read_answers(origin: str, is_allowed: bool) -> None:
    answer = await send("GET", "/thing", Settings(dev=True), Origin=origin)

    assert answer.headers.get("Access-Control-Allow-Origin") == (origin if is_allowed else None)
    assert answer.headers.getlist("Vary") == ["Origin"]
    assert "Access-Control-Allow-Origin" not in (await send("GET", "/thing", Origin=origin)).headers
