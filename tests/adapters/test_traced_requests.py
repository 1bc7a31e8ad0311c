"""Requests to others as spans, which name neither their address nor what is sent."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from adapters.gateways.traced_requests import TracedTransport
from adapters.tracing.spans import SamplingTracer
from ports.tracing import SpanKind
from tests.collector import Collector, collecting
from tests.kept_spans import KeptSpans

EMPTY = b""


@pytest.fixture
def kept() -> KeptSpans:
    return KeptSpans()


@pytest.fixture
def receiver() -> Iterator[Collector]:
    """A server that answers every request."""
    with collecting() as receiver:
        yield receiver


def client(kept: KeptSpans, *, percent: int = 100, passes_on: bool = False) -> httpx.AsyncClient:
    tracer = SamplingTracer(kept, percent=percent)
    transport = TracedTransport(httpx.AsyncHTTPTransport(), tracer, purpose="delivery", passes_on=passes_on)
    return httpx.AsyncClient(transport=transport, trust_env=False)


async def test_a_request_names_its_method_and_purpose_and_nothing_of_its_address(
    receiver: Collector, kept: KeptSpans
) -> None:
    async with client(kept) as http:
        await http.post(f"{receiver.url}/hook-secret?token=s3cret", content=EMPTY)

    [span] = kept.spans
    assert (span.name, span.kind, span.has_failed) == ("POST delivery", SpanKind.CLIENT, False)
    assert span.attributes == {
        "http.request.method": "POST",
        "gatehouse.purpose": "delivery",
        "http.response.status_code": 200,
    }
    assert "traceparent" not in {name.lower() for name in receiver.headers[0]}


async def test_in_a_request_it_belongs_to_its_trace(receiver: Collector, kept: KeptSpans) -> None:
    tracer = SamplingTracer(kept, percent=100)

    async with client(kept) as http:
        with tracer.root("GET /auth/callback", SpanKind.SERVER):
            await http.post(receiver.url, content=EMPTY)

    assert kept["POST delivery"].parent == kept["GET /auth/callback"].id


async def test_a_receiver_that_continues_traces_is_told_which(receiver: Collector, kept: KeptSpans) -> None:
    async with client(kept, passes_on=True) as http:
        await http.post(receiver.url, content=EMPTY)

    sent = {name.lower(): value for name, value in receiver.headers[0].items()}
    assert sent["traceparent"] == kept["POST delivery"].traceparent


async def test_without_a_sampled_trace_the_request_is_sent_as_it_is(receiver: Collector, kept: KeptSpans) -> None:
    not_sampling = SamplingTracer(kept, percent=0)

    async with client(kept, percent=0, passes_on=True) as alone, client(kept, passes_on=True) as within:
        await alone.post(receiver.url, content=EMPTY)
        with not_sampling.root("GET /health", SpanKind.SERVER):
            await within.post(receiver.url, content=EMPTY)

    assert kept.spans == []
    assert ["traceparent" in {name.lower() for name in headers} for headers in receiver.headers] == [False, False]


@pytest.mark.parametrize("status", [404, 503])
async def test_an_answer_that_refuses_has_failed(receiver: Collector, kept: KeptSpans, status: int) -> None:
    receiver.status = status

    async with client(kept) as http:
        answer = await http.post(receiver.url, content=EMPTY)

    assert answer.status_code == status
    assert kept["POST delivery"].has_failed
    assert kept["POST delivery"].attributes["http.response.status_code"] == status


async def test_a_request_without_an_answer_has_failed(kept: KeptSpans) -> None:
    async with client(kept) as http:
        # Nothing listens at port 1.
        with pytest.raises(httpx.ConnectError):
            await http.post("http://127.0.0.1:1/", content=EMPTY)

    assert kept["POST delivery"].has_failed
    assert kept["POST delivery"].attributes["error.type"] == "ConnectError"
