"""Traces of a server process: what its collector gets, and that nothing waits for one that hangs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.clients import answers, load
from tests.collector import Collector, attributes, collecting
from tests.processes import Services
from tests.shown_text import shows
from tests.waiting import wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

ANSWERS = 300
NOT_IMPORTED = "opentelemetry", "google.protobuf", "adapters.tracing", "adapters.gateways.traced_requests"
SHOW_IMPORTED = """
import sys
import entrypoints.operator.cli, entrypoints.serving, entrypoints.main
print("\\n".join(sys.modules))
"""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


def test_a_collector_gets_the_requests_with_their_statements_and_at_the_end_what_waits(
    services: Services, collector: Collector
) -> None:
    service = services.ready(
        "--workers", "2", TRACES_URL=collector.url, TRACES_PERCENT="100", TRACES_AUTHORIZATION="Bearer s3cret"
    )

    service.get("/health/ready?token=hidden")
    request = collector.wait_for("GET /health/ready")
    service.get("/api/organizations/hidden-slug/members")
    service.stop()

    below = [span for span in collector.spans if span.parent_span_id == request.span_id]
    assert "SELECT schema_migrations" in "; ".join(span.name for span in below)
    assert {attributes(span)["db.system.name"] for span in below} == {"postgresql"}
    assert attributes(collector.wait_for("GET /api/organizations/:slug/members"))["http.route"] == (
        "/api/organizations/:slug/members"
    )
    assert not shows(collector.text(), "hidden")
    assert all(headers["Authorization"] == "Bearer s3cret" for headers in collector.headers)
    assert {line["trace_id"] for line in service.logged("request")} <= {span.trace_id.hex() for span in collector.spans}


def test_a_collector_that_hangs_slows_neither_requests_nor_the_end(services: Services, collector: Collector) -> None:
    collector.may_answer.clear()
    service = services.ready(TRACES_URL=collector.url, TRACES_PERCENT="100")

    # The collector answers none of its requests until all of this is over.
    with load(service.port, ["/health"], loyal=2, fickle=0) as clients:
        wait_until(lambda: len(answers(clients)) > ANSWERS)
    collector.wait_for("GET /health")
    status = service.stop()

    assert {answer.status for answer in answers(clients)} == {200}
    assert status == 0


def test_without_traces_nothing_of_them_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", SHOW_IMPORTED], check=True, capture_output=True, text=True, timeout=60)
    imported = set(done.stdout.split())

    assert "entrypoints.web.serving.application" in imported
    assert {name for name in imported if name.startswith((*NOT_IMPORTED, "entrypoints.web.serving.traced"))} == set()
