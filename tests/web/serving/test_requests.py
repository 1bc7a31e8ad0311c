"""The handling of every request: HEAD and OPTIONS, request ids, and the log."""

import ipaddress
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest
import trio
from quart import Response
from quart.testing.connections import WebsocketResponseError
from structlog.testing import capture_logs

from core.rate_limits import RateLimit
from entrypoints import capabilities
from entrypoints.settings import Settings
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.rate_limiting import RateLimiter
from entrypoints.web.serving.routes import Routes
from tests.application import Client
from tests.shown_text import shows
from tests.web.probe import PEER, Answer, ask, http_scope, serving

ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
BEHIND_A_PROXY = Settings(trusted_proxies=(ipaddress.ip_network("10.0.0.0/8"),))


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


class Which(Query):
    """A small query."""

    page: int = 1


routes = Routes("notes", "Routes of this test.")


@routes.get("/notes")
@public
async def read(call: Call, query: Which) -> Note:
    """Read."""
    return Note(text="read")


@routes.post("/notes")
@public
async def write(call: Call, body: Note) -> Note:
    """Write."""
    return body


@routes.delete("/notes/:note_id", status=204)
@public
async def delete(call: Call, note_id: UUID) -> None:
    """Delete."""


@routes.get("/page")
@public
async def page(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer with its own response."""
    call.headers["Cache-Control"] = "public"
    return Response(b"page", content_type="text/plain")


@routes.get("/unchanged")
@public
async def unchanged(call: Call) -> Annotated[Response, Media("text/plain")]:
    """Answer 304."""
    return Response(b"", status=304)


@routes.get("/probed", is_operational=True)
@public
async def probed(call: Call) -> Note:
    """Answer a probe."""
    return Note()


async def send(method: str, target: str, **options: Any) -> Answer:
    return await ask(serving(routes), method, target, **options)


async def test_head_calls_the_handler_of_get() -> None:
    answer = await send("HEAD", "/notes?page=2")

    assert answer.status == 200
    assert answer.headers["Content-Length"] == str(len(b'{"text":"read"}'))


async def test_head_is_refused_like_get() -> None:
    answer = await send("HEAD", "/notes?page=x")

    assert answer.status == 400


def paths_to_get() -> list[str]:
    routes = capabilities.routes(is_development=True)
    return [route.path for route in routes if route.method == "GET" and not route.path_parameters]


async def test_head_works_on_every_route_with_get(client: Client, subtests: pytest.Subtests) -> None:
    for path in paths_to_get():
        with subtests.test(path=path):
            by_get = await client.get(path)

            by_head = await client.request("HEAD", path)

            assert by_head.status == by_get.status
            assert by_head.headers["Content-Type"] == by_get.headers["Content-Type"]


@pytest.mark.parametrize(
    ("target", "allowed"), [("/notes", "GET, HEAD, OPTIONS, POST"), (f"/notes/{ID}", "DELETE, OPTIONS")]
)
async def test_options_lists_the_methods_and_has_no_body(target: str, allowed: str) -> None:
    answer = await send("OPTIONS", target)

    assert answer.status == 204
    assert answer.headers["Allow"] == allowed
    assert answer.content == b""
    assert "Content-Type" not in answer.headers
    assert "Content-Length" not in answer.headers


@pytest.mark.parametrize("target", ["/nothing", "*", "//notes"])
async def test_options_of_an_unknown_path_is_404(target: str) -> None:
    answer = await send("OPTIONS", target)

    assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_an_empty_answer_has_no_content_type_and_no_length() -> None:
    answer = await send("DELETE", f"/notes/{ID}")

    assert (answer.status, answer.content) == (204, b"")
    assert "Content-Type" not in answer.headers
    assert "Content-Length" not in answer.headers


async def test_not_modified_has_no_content_type_and_no_length() -> None:
    answer = await send("GET", "/unchanged")

    assert answer.status == 304
    assert "Content-Type" not in answer.headers
    assert "Content-Length" not in answer.headers


async def test_a_response_made_by_a_handler_keeps_its_headers() -> None:
    answer = await send("GET", "/page")

    assert answer.headers["Content-Type"] == "text/plain"
    assert answer.headers.getlist("Cache-Control") == ["public"]


async def test_while_draining_every_answer_closes_its_connection() -> None:
    application = serving(routes)
    application.installation.stopping.set()

    answers = [await ask(application, "GET", target) for target in ("/notes", "/nothing", "/notes?page=x")]

    assert [answer.headers["Connection"] for answer in answers] == ["close"] * 3


async def test_every_request_gets_its_own_id() -> None:
    answers = [await send("GET", target) for target in ("/notes", "/notes", "/nothing")]

    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 3


async def test_a_request_id_of_an_untrusted_peer_is_ignored() -> None:
    answer = await send("GET", "/notes", headers={"X-Request-Id": "mine"})

    assert answer.headers["X-Request-Id"] != "mine"


async def test_a_request_id_of_a_trusted_proxy_is_kept() -> None:
    application = serving(routes, BEHIND_A_PROXY)

    answer = await ask(application, "GET", "/nothing", headers={"X-Request-Id": "from-proxy.1_2"}, peer="10.0.0.1")

    assert answer.headers["X-Request-Id"] == answer.json["request_id"] == "from-proxy.1_2"


@pytest.mark.parametrize("given", ["", "a b", "ü", "x" * 65, 'a"b', "a\x01"])
async def test_an_invalid_request_id_is_replaced(given: str) -> None:
    application = serving(routes, BEHIND_A_PROXY)

    answer = await ask(application, "GET", "/notes", headers={"X-Request-Id": given}, peer="10.0.0.1")

    assert len(answer.headers["X-Request-Id"]) == 32


async def test_a_request_is_one_line_in_the_log_for_workloadss() -> None:
    headers = {"Authorization": "Bearer hunter2", "X-Api-Key": "hunter2", "Cookie": "hunter2", "Referer": "hunter2"}

    with capture_logs() as logs:
        answer = await send("POST", "/notes?token=hunter2", body={"text": "hunter2"}, headers=headers)

    assert len(logs) == 1
    line = logs[0]
    assert not shows(str(line), "hunter2")
    assert line["duration_ms"] >= 0
    assert {name: line[name] for name in line if name != "duration_ms"} == {
        "event": "request",
        "log_level": "info",
        "method": "POST",
        "route": "/notes",
        "status": answer.status,
        "ip_address": PEER,
        "caller": None,
    }


@pytest.mark.parametrize("target", ["/nothing/hunter2", "/notes/hunter2", "/notes?page=hunter2", "//hunter2"])
async def test_the_log_does_not_quote_refused_input(target: str) -> None:
    with capture_logs() as logs:
        await send("GET", target)

    assert not shows(str(logs), "hunter2")


@pytest.mark.parametrize(
    ("method", "target", "route"),
    [
        ("GET", "/notes", "/notes"),
        ("OPTIONS", "/notes", "/notes"),
        ("OPTIONS", f"/notes/{ID}", "/notes/:note_id"),
        ("DELETE", f"/notes/{ID}", "/notes/:note_id"),
        ("PUT", "/notes", "unmatched"),
        ("GET", "/nothing", "unmatched"),
    ],
)
async def test_log_and_metrics_name_the_template_of_the_path(method: str, target: str, route: str) -> None:
    application = serving(routes)

    with capture_logs() as logs:
        await ask(application, method, target)

    assert [line["route"] for line in logs] == [route]
    assert f'method="{method}",route="{route}"' in application.installation.metrics.exposition().decode()


async def test_successful_probes_are_logged_at_debug_level() -> None:
    with capture_logs() as logs:
        await send("GET", "/probed")

    assert [line["log_level"] for line in logs] == ["debug"]


@pytest.mark.parametrize(
    ("which", "events"),
    [
        ("all", [200, 404, 500, "request.failed", "request.malformed"]),
        ("failed", [404, 500, "request.failed", "request.malformed"]),
        # What is wrong with Gatehouse is no line about a request.
        ("off", ["request.failed"]),
    ],
)
async def test_the_log_has_the_requests_that_a_setting_names_and_the_metrics_all(
    which: str, events: list[int | str]
) -> None:
    failing = Routes("failing", "A route of this test.")

    @failing.get("/failing")
    @public
    async def fail(call: Call) -> None:
        """Fail."""
        raise RuntimeError(call.request_id)

    @failing.get("/fine")
    @public
    async def fine(call: Call) -> Note:
        """Answer."""
        return Note(call.request_id)

    application = serving(failing, settings=Settings(log_requests=which))
    with capture_logs() as logs:
        answers = [await ask(application, "GET", path) for path in ("/fine", "/nothing", "/failing")]
        application.malformed("It is no request.", peer=PEER)

    assert [answer.status for answer in answers] == [200, 404, 500]
    assert sorted(str(line.get("status", line["event"])) for line in logs) == sorted(map(str, events))
    metrics = application.installation.metrics.exposition().decode()
    for status in ("2xx", "4xx", "5xx"):
        assert f'status="{status}"' in metrics


async def test_a_request_whose_client_disconnects_is_cancelled_and_is_one_line_in_the_log() -> None:
    began = trio.Event()
    ended: list[str] = []
    waiting = Routes("waiting", "A route of this test.")

    @waiting.get("/waiting")
    @public
    async def wait(call: Call) -> None:
        """Wait forever."""
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.append(call.request_id)

    async def send_message(message: Any) -> None:
        raise AssertionError("the application answered a disconnected client")

    application = serving(waiting)
    with capture_logs() as logs:
        async with trio.open_nursery() as server:
            scope: Any = http_scope("GET", "/waiting?secret=hunter2")
            server.start_soon(application, scope, trio.sleep_forever, send_message)
            await began.wait()
            server.cancel_scope.cancel()

    assert len(ended) == 1
    assert [(line["event"], line["route"], line["ip_address"]) for line in logs] == [
        ("request.abandoned", "/waiting", PEER)
    ]
    assert not shows(str(logs), "hunter2")
    assert 'route="/waiting"' not in application.installation.metrics.exposition().decode()


async def test_a_request_without_a_peer_address_is_served() -> None:
    with capture_logs() as logs:
        answer = await send("GET", "/notes", peer=None)

    assert answer.status == 200
    assert logs[0]["ip_address"] is None


async def test_requests_without_a_peer_address_share_one_bucket() -> None:
    limited = Routes("limited", "A route of this test.")

    @limited.get("/limited", limits=(RateLimit.MFA_VERIFICATION,))
    @public
    async def count(call: Call) -> None:
        """Answer with a limit."""

    application = serving(limited, rate_limiter=RateLimiter(monotonic=lambda: 0.0))

    statuses = [(await ask(application, "GET", "/limited", peer=None)).status for _ in range(4)]

    assert statuses == [200, 200, 200, 429]


async def test_a_websocket_is_refused_like_any_other_request() -> None:
    application = serving(routes)

    with pytest.raises(BaseExceptionGroup) as caught, capture_logs() as logs:
        async with application.test_client().websocket("/notes?secret=hunter2") as websocket:
            await websocket.receive()

    refused = caught.value.exceptions[0]
    assert isinstance(refused, WebsocketResponseError)
    assert refused.response.status_code == 400
    assert (await refused.response.get_json(force=True))["error_code"] == "BAD_REQUEST"
    assert refused.response.headers["X-Request-Id"]
    assert not shows(str(logs), "hunter2")
