"""Spans: which trace they belong to, which are sampled, and what the header of a caller means."""

from __future__ import annotations

import pytest
import trio

from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.tracing.spans import RemoteParent, SamplingTracer, remote_parent
from ports.tracing import SpanKind
from tests.kept_spans import KeptSpans

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, NOT_SAMPLED = f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00"


@pytest.fixture
def kept() -> KeptSpans:
    return KeptSpans()


@pytest.fixture
def tracer(kept: KeptSpans) -> SamplingTracer:
    return SamplingTracer(kept, percent=100)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (SAMPLED, RemoteParent(int(TRACE, 16), int(SPAN, 16), is_sampled=True)),
        (NOT_SAMPLED, RemoteParent(int(TRACE, 16), int(SPAN, 16), is_sampled=False)),
        (f" {SAMPLED} ", RemoteParent(int(TRACE, 16), int(SPAN, 16), is_sampled=True)),
        # A later version may have more fields and more flags.
        (f"01-{TRACE}-{SPAN}-03-more", RemoteParent(int(TRACE, 16), int(SPAN, 16), is_sampled=True)),
        (f"00-{TRACE}-{SPAN}-01-more", None),
        (f"ff-{TRACE}-{SPAN}-01", None),
        (f"00-{'0' * 32}-{SPAN}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE.upper()}-{SPAN}-01", None),
        (f"00-{TRACE}-{SPAN}", None),
        ("", None),
    ],
)
def test_the_header_of_a_caller_is_read_as_the_standard_says(header: str, expected: RemoteParent | None) -> None:
    assert remote_parent(header) == expected


def test_a_child_belongs_to_the_trace_of_its_parent(tracer: SamplingTracer, kept: KeptSpans) -> None:
    with tracer.root("request", SpanKind.SERVER), tracer.child("statement", SpanKind.CLIENT):
        pass

    request, statement = kept["request"], kept["statement"]
    assert (statement.trace, statement.parent, request.parent) == (request.trace, request.id, 0)
    assert request.began_ns <= statement.began_ns <= statement.ended_ns <= request.ended_ns


def test_siblings_have_one_parent_and_each_trace_an_id_of_its_own(tracer: SamplingTracer, kept: KeptSpans) -> None:
    for _ in range(2):
        with tracer.root("request", SpanKind.SERVER):
            with tracer.child("first", SpanKind.CLIENT):
                pass
            with tracer.child("second", SpanKind.CLIENT):
                pass

    first, second, request, *others = kept.spans
    assert first.parent == second.parent == request.id
    assert {span.trace for span in others} != {request.trace}
    assert len({span.id for span in kept.spans}) == 6


def test_the_trace_of_a_caller_is_continued(tracer: SamplingTracer, kept: KeptSpans) -> None:
    with tracer.root("request", SpanKind.SERVER, traceparent=SAMPLED) as span:
        assert span is not None
        passed_on = span.traceparent

    request = kept["request"]
    assert (request.trace_id, f"{request.parent:016x}") == (TRACE, SPAN)
    assert passed_on == f"00-{TRACE}-{request.id:016x}-01"


def test_the_caller_decides_whether_its_trace_is_sampled(kept: KeptSpans) -> None:
    with SamplingTracer(kept, percent=100).root("left out", SpanKind.SERVER, traceparent=NOT_SAMPLED) as span:
        assert span is None
    # Of those that begin here, none would be sampled.
    with SamplingTracer(kept, percent=0).root("taken", SpanKind.SERVER, traceparent=SAMPLED):
        pass

    assert [span.name for span in kept.spans] == ["taken"]


def test_nothing_is_recorded_in_a_trace_that_is_not_sampled_or_outside_of_one(kept: KeptSpans) -> None:
    tracer = SamplingTracer(kept, percent=0)

    with tracer.root("request", SpanKind.SERVER):
        inside = (tracer.is_in_trace, tracer.is_sampling)
        with tracer.child("statement", SpanKind.CLIENT) as span:
            assert span is None
    with tracer.child("statement", SpanKind.CLIENT) as span:
        assert span is None

    assert inside == (True, False)
    assert (tracer.is_in_trace, tracer.is_sampling) == (False, False)
    assert kept.spans == []


def test_a_share_of_the_traces_is_sampled(kept: KeptSpans) -> None:
    tracer = SamplingTracer(kept, percent=30)

    for _ in range(2_000):
        with tracer.root("request", SpanKind.SERVER):
            pass

    # A random share of 2,000 is outside of this once in more runs than there will be.
    assert 400 < len(kept.spans) < 800


def test_a_failure_is_named_by_its_class_and_never_by_its_message(tracer: SamplingTracer, kept: KeptSpans) -> None:
    with pytest.raises(ValueError, match="a secret"), tracer.root("request", SpanKind.SERVER):
        raise ValueError("a secret")

    assert kept["request"].has_failed
    assert kept["request"].attributes == {"error.type": "ValueError"}
    assert not tracer.is_in_trace


async def test_tasks_and_use_cases_are_in_the_trace_of_their_request(tracer: SamplingTracer, kept: KeptSpans) -> None:
    def use_case() -> None:
        with tracer.child("statement", SpanKind.CLIENT):
            pass

    async def task() -> None:
        with tracer.child("call", SpanKind.CLIENT):
            await trio.lowlevel.checkpoint()

    with tracer.root("request", SpanKind.SERVER):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(task)
        await run_in_greenlet(use_case, places=trio.CapacityLimiter(1), wait_seconds_max=1)

    assert {span.parent for span in (kept["statement"], kept["call"])} == {kept["request"].id}
