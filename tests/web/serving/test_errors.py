"""Refusals as sent to the client: one envelope, the codes of one table, and their headers."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from werkzeug.exceptions import ImATeapot, RequestEntityTooLarge

from core import errors
from core.errors import BadRequest, ErrorCode, FieldError, Refusal, ServiceUnavailable, TokenInvalid
from core.limits import BODY_BYTES_MAX, LARGE_BODY_BYTES_MAX
from core.rate_limits import RateLimit
from core.secrets import Secret
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import encode
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import RequestBody
from entrypoints.web.serving.routes import Routes
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.web.probe import Answer, ask, serving

REQUEST_ID = re.compile(r"[0-9a-f]{32}")


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


def raising(error: Callable[[], BaseException]) -> Application:
    """Return an application whose only handler fails."""
    routes = Routes("failing", "A route of this test.")

    @routes.get("/failing")
    @public
    async def fail(call: Call) -> Note:
        """Fail."""
        raise error()

    return serving(routes)


def taking_notes() -> Application:
    """Return an application with a few routes that succeed."""
    routes = Routes("notes", "Routes of this test.")

    @routes.get("/notes")
    @public
    async def read(call: Call) -> Note:
        """Read."""
        return Note()

    @routes.post("/notes")
    @public
    async def write(call: Call, body: Note) -> Note:
        """Write."""
        return body

    @routes.delete("/notes/:name")
    @public
    async def delete(call: Call, name: str) -> None:
        """Delete."""

    return serving(routes)


def assert_envelope(answer: Answer, code: ErrorCode) -> None:
    assert answer.status == code.status
    assert answer.headers["Content-Type"] == "application/json"
    envelope = answer.json
    assert set(envelope) - {"details"} == {"error", "error_code", "timestamp", "request_id"}
    assert envelope["error_code"] == code.name
    assert len(envelope["error"]) > 5
    assert envelope["timestamp"].endswith("Z")
    assert datetime.fromisoformat(envelope["timestamp"]) == SettableClock().now
    assert REQUEST_ID.fullmatch(envelope["request_id"])
    assert envelope["request_id"] == answer.headers["X-Request-Id"]


def every_refusal() -> list[Refusal]:
    refusals: list[Refusal] = []
    for cls in vars(errors).values():
        if not (isinstance(cls, type) and issubclass(cls, Refusal) and hasattr(cls, "code")):
            continue
        arguments: dict[str, Any] = {}
        if issubclass(cls, errors.TemporaryRefusal):
            arguments = {"retry_after_seconds": 3}
        if issubclass(cls, errors.MethodNotAllowed):
            arguments = {"allowed": ("GET",)}
        refusals.append(cls(**arguments))
    return refusals


async def test_every_refusal_has_the_envelope(subtests: pytest.Subtests) -> None:
    for refusal in every_refusal():
        with subtests.test(type(refusal).__name__):
            answer = await ask(raising(lambda refusal=refusal: refusal), "GET", "/failing")

            assert_envelope(answer, refusal.code)
            assert answer.json["error"] == refusal.message


async def test_every_code_is_sent_with_its_status(subtests: pytest.Subtests) -> None:
    for code in ErrorCode:
        with subtests.test(code.name):
            refusal = type("Refused", (Refusal,), {"code": code, "default_message": "It cannot be."})

            answer = await ask(raising(refusal), "GET", "/failing")

            assert_envelope(answer, code)


async def test_invalid_input_is_listed_field_by_field() -> None:
    problems = (FieldError(field="a", message="Too small."), FieldError(field="b.c", message="Too large."))

    answer = await ask(raising(lambda: BadRequest(details=problems)), "GET", "/failing")

    assert answer.json["details"] == [
        {"field": "a", "message": "Too small."},
        {"field": "b.c", "message": "Too large."},
    ]


async def test_refusals_not_about_input_have_no_details() -> None:
    answer = await ask(raising(errors.Forbidden), "GET", "/failing")

    assert "details" not in answer.json


async def test_a_temporary_refusal_has_a_retry_after_header() -> None:
    answer = await ask(raising(lambda: ServiceUnavailable(retry_after_seconds=7)), "GET", "/failing")

    assert answer.status == 503
    assert answer.headers["Retry-After"] == "7"


@pytest.mark.parametrize(
    ("refusal", "challenge"),
    [
        (errors.Unauthorized, "Bearer"),
        (errors.TokenExpired, 'Bearer error="invalid_token"'),
        (TokenInvalid, 'Bearer error="invalid_token"'),
        (errors.Forbidden, None),
    ],
)
async def test_a_401_has_a_www_authenticate_header(refusal: type[Refusal], challenge: str | None) -> None:
    answer = await ask(raising(refusal), "GET", "/failing")

    assert answer.headers.get("WWW-Authenticate") == challenge


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("password=hunter2"),
        KeyError("hunter2"),
        AssertionError("hunter2"),
        UnicodeEncodeError("utf-8", "hunter2\ud800", 7, 8, "hunter2"),
        RecursionError("hunter2"),
        ExceptionGroup("hunter2", [ValueError("hunter2"), errors.Forbidden()]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_unexpected_error_is_500_and_only_the_log_has_its_cause(error: Exception) -> None:
    with capture_logs() as logs:
        answer = await ask(raising(lambda: error), "GET", "/failing")

    assert_envelope(answer, ErrorCode.INTERNAL_SERVER_ERROR)
    assert not shows(answer.content.decode(), "hunter2")
    failures = [line for line in logs if line["event"] == "request.failed"]
    assert [line["exc_info"] for line in failures] == [error]


async def test_a_refusal_inside_a_nursery_is_unwrapped() -> None:
    async def fail() -> None:
        raise errors.Forbidden

    routes = Routes("nursery", "A route of this test.")

    @routes.get("/failing")
    @public
    async def with_nursery(call: Call) -> Note:
        """Fail in a child task."""
        async with trio.open_nursery() as nursery, trio.open_nursery() as inner:
            inner.start_soon(fail)
            nursery.start_soon(trio.sleep_forever)
        return Note()

    answer = await ask(serving(routes), "GET", "/failing")

    assert_envelope(answer, ErrorCode.FORBIDDEN)


@pytest.mark.parametrize("value", ["\ud800", Secret("hunter2"), object()], ids=["lone surrogate", "secret", "object"])
async def test_an_answer_that_cannot_or_must_not_be_encoded_is_500(value: Any) -> None:
    routes = Routes("broken", "A route of this test.")

    @routes.get("/broken")
    @public
    async def broken(call: Call) -> dict[str, Any]:
        """Answer with a value that cannot be encoded."""
        return {"value": value}

    answer = await ask(serving(routes), "GET", "/broken")

    assert_envelope(answer, ErrorCode.INTERNAL_SERVER_ERROR)
    assert not shows(answer.content.decode(), "hunter2")


async def test_a_refusal_of_the_framework_has_our_envelope() -> None:
    answer = await ask(raising(ImATeapot), "GET", "/failing")

    assert_envelope(answer, ErrorCode.BAD_REQUEST)


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/nothing",
        "/notes/",
        "/notes/a/b",
        "//notes",
        "/notes//a",
        "/NOTES",
        "/notes%2Fa/b",
        "/%00",
        "/%ff",
        "/.",
        "/..%2f",
        "/*",
    ],
)
async def test_an_unknown_path_is_404(target: str) -> None:
    answer = await ask(taking_notes(), "GET", target)

    assert_envelope(answer, ErrorCode.NOT_FOUND)
    assert "/docs" in answer.json["error"]


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("PUT", "/notes", "GET, HEAD, OPTIONS, POST"),
        ("DELETE", "/notes", "GET, HEAD, OPTIONS, POST"),
        ("GET", "/notes/a", "DELETE, OPTIONS"),
        ("HEAD", "/notes/a", "DELETE, OPTIONS"),
        ("BREW", "/notes", "GET, HEAD, OPTIONS, POST"),
        ("TRACE", "/notes", "GET, HEAD, OPTIONS, POST"),
        ("CONNECT", "/notes", "GET, HEAD, OPTIONS, POST"),
        ("--", "/notes", "GET, HEAD, OPTIONS, POST"),
    ],
)
async def test_an_undeclared_method_is_405_and_lists_the_declared_ones(method: str, target: str, allowed: str) -> None:
    answer = await ask(taking_notes(), method, target)

    assert_envelope(answer, ErrorCode.METHOD_NOT_ALLOWED)
    assert answer.headers["Allow"] == allowed


async def test_a_body_with_a_length_over_the_limit_is_413_before_it_arrives() -> None:
    headers = {"Content-Length": str(BODY_BYTES_MAX + 1), "Content-Type": "application/json"}

    answer = await ask(taking_notes(), "POST", "/notes", headers=headers, data=[], is_complete=False)

    assert_envelope(answer, ErrorCode.PAYLOAD_TOO_LARGE)


async def test_a_body_of_unknown_length_is_413_as_soon_as_it_exceeds_the_limit() -> None:
    pieces = [b" " * 2**16] * (BODY_BYTES_MAX // 2**16) + [b"{"]

    answer = await ask(taking_notes(), "POST", "/notes", data=pieces, is_complete=False)

    assert_envelope(answer, ErrorCode.PAYLOAD_TOO_LARGE)


async def test_a_body_of_exactly_the_limit_is_accepted() -> None:
    padding = BODY_BYTES_MAX - len(b'{"text": ""}')

    answer = await ask(taking_notes(), "POST", "/notes", data=b'{"text": "' + b"x" * padding + b'"}')

    assert answer.status == 200


async def test_a_body_over_the_limit_is_413_also_on_a_route_without_a_body() -> None:
    headers = {"Content-Length": str(BODY_BYTES_MAX + 1)}

    answer = await ask(taking_notes(), "GET", "/notes", headers=headers, data=[], is_complete=False)

    assert_envelope(answer, ErrorCode.PAYLOAD_TOO_LARGE)


async def test_a_route_takes_larger_bodies_where_it_declares_so() -> None:
    routes = Routes("large", "A route of this test.")

    @routes.post("/logos", body_bytes_max=LARGE_BODY_BYTES_MAX, is_verified_by_content=True, limits=(RateLimit.SAML,))
    @public
    async def take(call: Call, body: Note) -> None:
        """Take a large body."""

    application = serving(routes)
    padding = LARGE_BODY_BYTES_MAX - len(b'{"text": ""}')
    largest = b'{"text": "' + b"x" * padding + b'"}'

    accepted = await ask(application, "POST", "/logos", data=largest)
    in_pieces = await ask(application, "POST", "/logos", data=[largest[: 2**16], largest[2**16 :]])
    too_large = await ask(application, "POST", "/logos", data=largest + b" ")
    too_large_in_pieces = await ask(application, "POST", "/logos", data=[largest, b" "])

    assert (accepted.status, in_pieces.status) == (200, 200)
    assert_envelope(too_large, ErrorCode.PAYLOAD_TOO_LARGE)
    assert_envelope(too_large_in_pieces, ErrorCode.PAYLOAD_TOO_LARGE)


async def test_a_body_that_is_too_large_is_not_received_to_its_end() -> None:
    parts = iter([b"x" * BODY_BYTES_MAX, b"x"])

    async def receive() -> Any:
        return {"type": "http.request", "body": next(parts), "more_body": True}

    body = RequestBody(None, LARGE_BODY_BYTES_MAX)
    body.receive_from(receive)
    body.limit(BODY_BYTES_MAX)

    with pytest.raises(RequestEntityTooLarge):
        await body
    assert not list(parts)


async def test_a_body_on_a_route_without_a_body_is_ignored() -> None:
    answer = await ask(taking_notes(), "DELETE", "/notes/a", data=b"\xff not json", headers={"Content-Type": "x/y"})

    assert answer.status == 200


@pytest.mark.parametrize("length", ["", "-1", "x", "1.5", "0x10", "9" * 5000, " 2 "])
async def test_an_invalid_content_length_is_not_an_internal_error(length: str) -> None:
    answer = await ask(taking_notes(), "POST", "/notes", data=[b"{}"], headers={"Content-Length": length})

    assert answer.status in {200, 400, 413}


def test_times_are_written_in_utc_with_z() -> None:
    assert encode({"at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}) == b'{"at":"2026-01-02T03:04:05Z"}'
