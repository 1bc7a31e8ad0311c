"""Hands spans to a collector by OTLP over HTTP, in a thread of its own: no request waits for the collector.

The queue is bounded; spans that do not fit are dropped and counted. So is a batch that the collector refuses: a
repetition would only delay later ones, and a lost span does no harm.
"""

from __future__ import annotations

import http.client
import queue
import ssl
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import structlog
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from core.secrets import Secret
from ports.metrics_of_work import SpanLoss, WorkMetrics
from ports.tracing import SpanKind

if TYPE_CHECKING:
    from adapters.tracing.spans import Span

# Some megabytes: at a thousand requests a second with five spans each, four seconds.
QUEUED_SPANS_MAX: Final = 20_000
# Encoding a batch holds the interpreter for a millisecond or so.
BATCH_SPANS_MAX: Final = 256
# How long spans are collected when there are few.
BATCH_SECONDS: Final = 2.0
ANSWER_SECONDS_MAX: Final = 5.0
# After a failure, so that a collector that is away is not asked without pause.
FAILURE_PAUSE_SECONDS: Final = 1.0
CLOSE_SECONDS_MAX: Final = 2.0
DEFAULT_PATH: Final = "/v1/traces"
_SUCCESS: Final = range(200, 300)
_KINDS: Final = {
    SpanKind.SERVER: SpanMessage.SPAN_KIND_SERVER,
    SpanKind.CLIENT: SpanMessage.SPAN_KIND_CLIENT,
}

log = structlog.get_logger(__name__)


class CollectorFailed(Exception):
    """The collector did not take a batch; the text tells the operator why."""


class ExportingQueue:
    """A bounded queue of spans, and the thread that hands them to the collector."""

    def __init__(
        self,
        url: str,
        *,
        authorization: Secret | None,
        version: str,
        metrics: WorkMetrics,
        queued_max: int = QUEUED_SPANS_MAX,
    ) -> None:
        self._collector = _Collector(url, authorization)
        self._resource = ResourceSpans()
        self._resource.resource.attributes.extend(
            _attributes({"service.name": "gatehouse", "service.version": version})
        )
        self._metrics = metrics
        # The number of spans that wait is bounded before they are added, so `put` never waits.
        self._spans: queue.SimpleQueue[Span | None] = queue.SimpleQueue()
        self._queued_max = queued_max
        self._is_closing = threading.Event()
        self._is_reported = False
        self._thread = threading.Thread(target=self._run, name="traces", daemon=True)
        self._thread.start()

    def put(self, span: Span) -> None:
        """Take a span, or drop it when too many wait."""
        if self._spans.qsize() >= self._queued_max:
            self._metrics.spans_dropped(1, SpanLoss.QUEUE_FULL)
            return
        self._spans.put(span)

    def close(self) -> None:
        """Hand over what waits, but not for long; what is left then is lost."""
        self._is_closing.set()
        self._spans.put(None)
        self._thread.join(CLOSE_SECONDS_MAX)

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._next_batch()
            if batch:
                self._send(batch)

    def _next_batch(self) -> tuple[Sequence[Span], bool]:
        """Wait for the next spans; return them, and whether more may come."""
        batch: list[Span] = []
        until: float | None = None
        while len(batch) < BATCH_SPANS_MAX:
            seconds = None if until is None else max(0.0, until - time.monotonic())
            try:
                span = self._spans.get(timeout=seconds)
            except queue.Empty:
                break
            if span is None:
                return batch, False
            batch.append(span)
            until = until or time.monotonic() + BATCH_SECONDS
        return batch, True

    def _send(self, batch: Sequence[Span]) -> None:
        try:
            self._collector.send(_encoded(batch, self._resource))
        except CollectorFailed as failed:
            self._metrics.spans_dropped(len(batch), SpanLoss.COLLECTOR)
            if not self._is_reported:
                log.warning("traces.not_taken", reason=str(failed))
            self._is_reported = True
            self._is_closing.wait(FAILURE_PAUSE_SECONDS)
            return
        if self._is_reported:
            log.info("traces.taken_again")
        self._is_reported = False
        self._metrics.spans_exported(len(batch))


class _Collector:
    """Sends batches, each over a connection of its own: one every few seconds is not worth keeping one."""

    def __init__(self, url: str, authorization: Secret | None) -> None:
        parts = urlsplit(url)
        self._is_encrypted = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._path = parts.path or DEFAULT_PATH
        self._authorization = authorization
        self._tls = ssl.create_default_context() if self._is_encrypted else None

    def send(self, body: bytes) -> None:
        """Send a batch; raise `CollectorFailed` when it is not taken."""
        headers = {"Content-Type": "application/x-protobuf"}
        if self._authorization is not None:
            headers["Authorization"] = self._authorization.reveal()
        try:
            with closing(self._connection()) as connection:
                connection.request("POST", self._path, body, headers)
                status = connection.getresponse().status
        except UnicodeError:
            # The resolver encodes names and may fail; the thread would end, and export no more spans.
            raise CollectorFailed("The collector cannot be reached: its host is not a name.") from None
        except (OSError, http.client.HTTPException) as error:
            # The message of an answer that is malformed may quote it.
            reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            raise CollectorFailed(f"The collector cannot be reached: {reason}.") from None
        if status not in _SUCCESS:
            raise CollectorFailed(f"The collector answered {status}.")

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=ANSWER_SECONDS_MAX, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=ANSWER_SECONDS_MAX)


def _encoded(batch: Iterable[Span], resource: ResourceSpans) -> bytes:
    resource_spans = ResourceSpans()
    resource_spans.CopyFrom(resource)
    resource_spans.scope_spans.append(ScopeSpans(spans=[_message(span) for span in batch]))
    return ExportTraceServiceRequest(resource_spans=[resource_spans]).SerializeToString()


def _message(span: Span) -> SpanMessage:
    return SpanMessage(
        trace_id=span.trace.to_bytes(16),
        span_id=span.id.to_bytes(8),
        parent_span_id=span.parent.to_bytes(8) if span.parent else b"",
        name=span.name,
        kind=_KINDS[span.kind],
        start_time_unix_nano=span.began_ns,
        end_time_unix_nano=span.ended_ns,
        attributes=_attributes(span.attributes),
        status=Status(code=Status.STATUS_CODE_ERROR) if span.has_failed else None,
    )


def _attributes(values: dict[str, str | int]) -> list[KeyValue]:
    return [
        KeyValue(key=key, value=AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value))
        for key, value in values.items()
    ]
