"""Statements as spans: their kinds and tables, and never a value."""

from __future__ import annotations

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.traced_connection import TracedConnection, kind_of
from adapters.tracing.spans import SamplingTracer
from ports.tracing import SpanKind
from tests.kept_spans import KeptSpans
from tests.postgres import driver_of
from tests.shown_text import shows

pytestmark = pytest.mark.usefixtures("shelf")


@pytest.fixture
def kept() -> KeptSpans:
    return KeptSpans()


@pytest.fixture
def tracer(kept: KeptSpans) -> SamplingTracer:
    return SamplingTracer(kept, percent=100)


@pytest.fixture
def traced(connection: Connection, tracer: SamplingTracer) -> TracedConnection:
    return TracedConnection(driver_of(connection), tracer=tracer)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"SELECT id FROM users WHERE id = $1", "SELECT users"),
        (b"\n    -- Of one FROM nobody.\n    select id\n    FROM   users", "SELECT users"),
        (
            b"INSERT INTO mails (organization_id, id) SELECT '00000000-0000-0000-0000-000000000000', id FROM users",
            "INSERT mails",
        ),
        (b"UPDATE users SET email = $1", "UPDATE users"),
        (b"WITH gone AS (DELETE FROM sessions RETURNING id) SELECT id FROM gone", "WITH sessions"),
        (b"SELECT extract(epoch FROM $1 - created_at) FROM mails FOR UPDATE OF mails", "SELECT mails"),
        (b"BEGIN", "BEGIN"),
        (b"", "?"),
    ],
)
def test_a_statement_is_named_by_its_first_word_and_its_first_table(text: bytes, kind: str) -> None:
    assert kind_of(text) == kind


def test_each_round_trip_is_a_span_with_its_statements_and_without_their_values(
    traced: TracedConnection, tracer: SamplingTracer, kept: KeptSpans
) -> None:
    with tracer.root("request", SpanKind.SERVER), traced.transaction():
        traced.execute("INSERT INTO shelf (id, title) VALUES (%s, %s)", (4711, "a secret title"))
        for number in range(6):
            traced.execute_later("UPDATE shelf SET title = %s WHERE id = %s", ("another secret", number))

    assert kept.names() == [
        "BEGIN; INSERT shelf",
        "UPDATE shelf; UPDATE shelf; UPDATE shelf; UPDATE shelf; …",
        "request",
    ]
    first, second, request = kept.spans
    assert first.attributes == {"db.system.name": "postgresql", "db.operation.batch.size": 2}
    assert second.attributes["db.operation.batch.size"] == 7
    assert {first.parent, second.parent} == {request.id}
    assert not shows(str(kept.spans), "secret")
    assert not shows(str([(span.name, span.attributes) for span in kept.spans]), "4711")


def test_a_statement_that_fails_has_failed_and_the_request_may_go_on(
    traced: TracedConnection, tracer: SamplingTracer, kept: KeptSpans
) -> None:
    with tracer.root("request", SpanKind.SERVER), pytest.raises(psycopg.errors.DivisionByZero):
        traced.execute("SELECT 1 / %s::integer", (0,))

    assert kept["SELECT"].has_failed
    assert kept["SELECT"].attributes["error.type"] == "DivisionByZero"
    assert not kept["request"].has_failed


def test_outside_of_a_sampled_trace_statements_run_and_leave_no_span(traced: TracedConnection, kept: KeptSpans) -> None:
    count = traced.execute("SELECT count(*) FROM shelf").fetchone()
    with SamplingTracer(kept, percent=0).root("request", SpanKind.SERVER):
        traced.execute("SELECT count(*) FROM shelf")

    assert count == (0,)
    assert kept.spans == []
