"""Spans for a collector: what it gets, and that no request waits for a collector that is slow or away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from structlog.testing import capture_logs

from adapters.prometheus import PrometheusMetrics
from adapters.tracing import exporting
from adapters.tracing.exporting import BATCH_SPANS_MAX, ExportingQueue
from adapters.tracing.spans import SamplingTracer, Span
from core.secrets import Secret
from ports.tracing import SpanKind
from tests.collector import Collector, attributes, collecting
from tests.waiting import wait_until

QUEUED_MAX: Final = 1_000


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that are sent at once, and failures that are forgotten soon."""
    monkeypatch.setattr(exporting, "BATCH_SECONDS", 0.01)
    monkeypatch.setattr(exporting, "FAILURE_PAUSE_SECONDS", 0.01)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture
def metrics() -> PrometheusMetrics:
    return PrometheusMetrics(version="1.2.3")


@pytest.fixture
def queue_to(metrics: PrometheusMetrics) -> Iterator[Callable[..., ExportingQueue]]:
    """Makes queues, which are closed at the end."""
    made: list[ExportingQueue] = []

    def make(url: str, *, authorization: Secret | None = None) -> ExportingQueue:
        made.append(
            ExportingQueue(url, authorization=authorization, version="1.2.3", metrics=metrics, queued_max=QUEUED_MAX)
        )
        return made[-1]

    yield make
    for queue in made:
        queue.close()


def span(name: str = "GET /health") -> Span:
    return Span(name=name, kind=SpanKind.SERVER, trace=1, id=2, parent=0, began_ns=3, ended_ns=4)


def counted(metrics: PrometheusMetrics, series: str) -> float:
    lines = metrics.exposition().decode().splitlines()
    [value] = [line for line in lines if line.startswith(f"{series} ")]
    return float(value.rpartition(" ")[2])


def dropped(metrics: PrometheusMetrics, reason: str) -> float:
    return counted(metrics, f'sso_trace_spans_dropped_total{{reason="{reason}"}}')


def test_a_collector_gets_each_span_with_its_place_in_the_trace(
    collector: Collector, queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    tracer = SamplingTracer(queue_to(collector.url, authorization=Secret("Bearer s3cret")), percent=100)

    with tracer.root("GET /health", SpanKind.SERVER) as root:
        assert root is not None
        root.describe(attributes={"http.route": "/health", "http.response.status_code": 500}, has_failed=True)
        with tracer.child("SELECT users", SpanKind.CLIENT):
            pass

    request, statement = collector.wait_for("GET /health"), collector.wait_for("SELECT users")
    assert (len(request.trace_id), len(request.span_id), request.parent_span_id) == (16, 8, b"")
    assert (statement.trace_id, statement.parent_span_id) == (request.trace_id, request.span_id)
    assert (request.kind, statement.kind) == (request.SPAN_KIND_SERVER, request.SPAN_KIND_CLIENT)
    assert attributes(request) == {"http.route": "/health", "http.response.status_code": 500}
    assert (request.status.code, statement.status.code) == (2, 0)
    assert 0 < request.start_time_unix_nano <= request.end_time_unix_nano
    assert collector.service == {"service.name": "gatehouse", "service.version": "1.2.3"}
    assert collector.headers[0]["Authorization"] == "Bearer s3cret"
    assert collector.headers[0]["Content-Type"] == "application/x-protobuf"
    wait_until(lambda: counted(metrics, "sso_trace_spans_exported_total") == 2)


def test_many_spans_arrive_in_batches(
    collector: Collector, queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    collector.may_answer.clear()
    queue = queue_to(collector.url)
    queue.put(span("first"))
    collector.wait_for("first")
    for _ in range(2 * BATCH_SPANS_MAX):
        queue.put(span())
    collector.may_answer.set()

    collector.wait_for_requests(3)

    assert len(collector.spans) == 1 + 2 * BATCH_SPANS_MAX
    assert dropped(metrics, "queue_full") == 0


def test_a_collector_that_does_not_answer_fills_the_queue_and_delays_nobody(
    collector: Collector, queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    collector.may_answer.clear()
    queue = queue_to(collector.url)
    queue.put(span("first"))
    collector.wait_for("first")

    # It would wait for ever if it waited at all: the collector answers only afterwards.
    for _ in range(QUEUED_MAX + 500):
        queue.put(span())
    full = dropped(metrics, "queue_full")
    collector.may_answer.set()

    assert full == 500
    wait_until(lambda: counted(metrics, "sso_trace_spans_exported_total") == QUEUED_MAX + 1)


def test_what_a_collector_refuses_is_dropped_counted_and_reported_once(
    collector: Collector, queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    collector.status = 503
    with capture_logs() as logs:
        queue = queue_to(collector.url)
        for number in (1, 2):
            queue.put(span())
            wait_until(lambda number=number: dropped(metrics, "collector") == number)
        collector.status = 200
        queue.put(span())
        wait_until(lambda: counted(metrics, "sso_trace_spans_exported_total") == 1)

    assert [(line["event"], line.get("reason")) for line in logs] == [
        ("traces.not_taken", "The collector answered 503."),
        ("traces.taken_again", None),
    ]


def test_a_collector_that_is_away_costs_its_spans_alone(
    queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with capture_logs() as logs:
        queue_to(f"http://127.0.0.1:{port}").put(span())
        wait_until(lambda: dropped(metrics, "collector") == 1)

    assert [line["reason"] for line in logs] == ["The collector cannot be reached: Connection refused."]


def test_a_host_that_is_no_name_is_reported_and_ends_nothing(
    queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    with capture_logs() as log:
        queue = queue_to("http://otel..example:4318")
        for number in range(1, 3):
            queue.put(span())
            wait_until(lambda number=number: dropped(metrics, "collector") == number)

    assert [line["reason"] for line in log] == ["The collector cannot be reached: its host is not a name."]


def test_an_answer_that_is_no_http_is_a_failure(
    queue_to: Callable[..., ExportingQueue], metrics: PrometheusMetrics
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with capture_logs() as logs:
            queue_to(f"http://127.0.0.1:{listener.getsockname()[1]}").put(span())
            wait_until(lambda: dropped(metrics, "collector") == 1)
        thread.join()

    assert [line["reason"] for line in logs] == ["The collector cannot be reached: BadStatusLine."]


def test_a_queue_that_is_closed_hands_over_what_waits(
    collector: Collector, queue_to: Callable[..., ExportingQueue], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH_SECONDS", 3600.0)
    queue = queue_to(collector.url)
    queue.put(span("last"))

    queue.close()

    assert collector.names() == ["last"]


def test_a_queue_whose_collector_hangs_is_closed_all_the_same(
    collector: Collector, queue_to: Callable[..., ExportingQueue], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "CLOSE_SECONDS_MAX", 0.01)
    collector.may_answer.clear()
    queue = queue_to(collector.url)
    queue.put(span("first"))
    collector.wait_for("first")

    # The collector answers only afterwards.
    queue.close()

    assert collector.names() == ["first"]
