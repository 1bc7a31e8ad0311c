"""A collector of traces: takes spans by OTLP over HTTP and decodes them, or does not answer, or refuses."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

# More than any test waits for; a test that gets here fails.
WAIT_SECONDS_MAX: Final = 60.0


@dataclass
class Collector:
    """What arrived, and how it is answered."""

    url: str
    status: int = 200
    spans: list[Span] = field(default_factory=list["Span"])
    service: dict[str, str] = field(default_factory=dict[str, str])
    headers: list[Mapping[str, str]] = field(default_factory=list["Mapping[str, str]"])
    # Cleared by a test whose collector does not answer.
    may_answer: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def take(self, headers: Mapping[str, str], body: bytes) -> None:
        """Keep what a request brought."""
        request = ExportTraceServiceRequest.FromString(body)
        with self.arrived:
            self.headers.append(dict(headers))
            for resource in request.resource_spans:
                self.service = {each.key: each.value.string_value for each in resource.resource.attributes}
                for scope in resource.scope_spans:
                    self.spans += scope.spans
            self.arrived.notify_all()

    def wait_for(self, name: str) -> Span:
        """Wait for a span with that name, and return the first one."""
        with self.arrived:
            has_come = self.arrived.wait_for(lambda: name in self.names(), WAIT_SECONDS_MAX)
            assert has_come, f"no span {name} arrived, but {self.names()}"
            return next(span for span in self.spans if span.name == name)

    def wait_for_requests(self, number: int) -> None:
        """Wait until so many batches have arrived."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.headers) >= number, WAIT_SECONDS_MAX)

    def names(self) -> list[str]:
        """Return the names of all spans."""
        return [span.name for span in self.spans]

    def text(self) -> str:
        """Return all that the spans say."""
        return "\n".join(str(span) for span in self.spans)


def attributes(span: Span) -> dict[str, Any]:
    """Return the attributes of a span."""
    return {
        each.key: each.value.int_value if each.value.HasField("int_value") else each.value.string_value
        for each in span.attributes
    }


@contextmanager
def collecting() -> Generator[Collector]:
    """Run a collector on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.take(dict(self.headers.items()), body)
            collector.may_answer.wait(WAIT_SECONDS_MAX)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the library
            """Print nothing."""

    class Server(ThreadingHTTPServer):
        # A client that gives up closes its connection.
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print nothing."""

    with Server(("127.0.0.1", 0), Handler) as server:
        collector = Collector(f"http://127.0.0.1:{server.server_address[1]}/v1/traces")
        collector.may_answer.set()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield collector
        finally:
            collector.may_answer.set()
            server.shutdown()
            thread.join()
