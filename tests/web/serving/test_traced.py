"""Requests as spans: by the template of their route, in the trace of a trusted proxy, and in the log."""

from uuid import UUID

import pytest
import structlog
from structlog.testing import capture_logs

from adapters.tracing.spans import SamplingTracer
from core.errors import ServiceUnavailable
from entrypoints.settings import Settings, load
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from entrypoints.web.serving.traced import TracedApplication
from ports.tracing import SpanKind
from tests.kept_spans import KeptSpans
from tests.web.probe import PEER, ask, make_installation

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{SPAN}-01"
BEHIND_A_PROXY = load({"GATEHOUSE_TRUSTED_PROXIES": f"{PEER}/32"})


@pytest.fixture
def kept() -> KeptSpans:
    return KeptSpans()


def traced(kept: KeptSpans, *, settings: Settings | None = None, percent: int = 100) -> TracedApplication:
    routes = Routes("traced", "Routes of this test.")

    @routes.get("/things/:thing_id")
    @public
    async def thing(call: Call, thing_id: UUID) -> None:
        """Answer."""

    @routes.get("/away")
    @public
    async def away(call: Call) -> None:
        """Refuse."""
        raise ServiceUnavailable(retry_after_seconds=1)

    tracer = SamplingTracer(kept, percent=percent)
    return TracedApplication(make_installation(settings), routes.routes, tracer=tracer)


async def test_a_request_is_named_by_its_template_and_says_nothing_of_its_path_and_query(kept: KeptSpans) -> None:
    await ask(traced(kept), "GET", "/things/0190a6b0-0000-7000-8000-000000000000?token=s3cret")

    [span] = kept.spans
    assert (span.name, span.kind, span.has_failed) == ("GET /things/:thing_id", SpanKind.SERVER, False)
    assert span.attributes == {
        "http.request.method": "GET",
        "http.route": "/things/:thing_id",
        "http.response.status_code": 200,
    }


@pytest.mark.parametrize(
    ("method", "target", "name", "status"),
    [
        ("GET", "/who/knows", "GET unmatched", 404),
        ("BREW", "/away", "_OTHER unmatched", 405),
        ("POST", "/away", "POST unmatched", 405),
    ],
)
async def test_what_a_stranger_makes_up_is_no_name(
    kept: KeptSpans, method: str, target: str, name: str, status: int
) -> None:
    await ask(traced(kept), method, target)

    assert (kept.names(), kept.spans[0].attributes["http.response.status_code"]) == ([name], status)


async def test_a_failure_of_gatehouse_has_failed(kept: KeptSpans) -> None:
    await ask(traced(kept), "GET", "/away")

    assert kept["GET /away"].has_failed


async def test_the_trace_of_a_trusted_proxy_is_continued_and_that_of_a_stranger_is_not(kept: KeptSpans) -> None:
    headers = {"traceparent": TRACEPARENT}

    await ask(traced(kept, settings=BEHIND_A_PROXY, percent=1), "GET", "/away", headers=headers)
    await ask(traced(kept, settings=BEHIND_A_PROXY), "GET", "/away", headers=headers, peer="198.51.100.1")
    await ask(traced(kept), "GET", "/away", headers=headers)

    assert [span.trace_id == TRACE for span in kept.spans] == [True, False, False]
    assert f"{kept.spans[0].parent:016x}" == SPAN


async def test_of_several_headers_none_is_used(kept: KeptSpans) -> None:
    twice = [(b"traceparent", TRACEPARENT.encode())] * 2

    await ask(traced(kept, settings=BEHIND_A_PROXY), "GET", "/away", more_headers=twice)

    assert kept["GET /away"].trace_id != TRACE


async def test_the_log_of_a_request_names_its_trace(kept: KeptSpans) -> None:

    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logs:
        await ask(traced(kept), "GET", "/away")

    [line] = [line for line in logs if line["event"] == "request"]
    assert line["trace_id"] == kept["GET /away"].trace_id


async def test_a_request_that_is_not_sampled_is_served_and_leaves_no_span(kept: KeptSpans) -> None:
    answer = await ask(traced(kept, percent=0), "GET", "/away")

    assert (answer.status, kept.spans) == (503, [])
