"""The metrics of what Gatehouse sends, refuses and uses: their series exist from the start, and add up."""

from __future__ import annotations

import pytest

from adapters.prometheus import PrometheusMetrics
from core.platform.health_figures import Backlog
from core.platform.system import Cluster, ClusterNode
from core.sign_in.reasons import CountedReason
from ports.mailboxes import POLLED_WORK
from ports.metrics_of_work import (
    AttemptOutcome,
    ConnectFailure,
    ConnectionRefusal,
    MailOutcome,
    MailServerKind,
    ProcessUsage,
    ReconciliationOutcome,
    SpanLoss,
    StatementLimit,
)


@pytest.fixture
def metrics() -> PrometheusMetrics:
    return PrometheusMetrics(version="1.2.3")


def series(metrics: PrometheusMetrics, name: str) -> dict[str, float]:
    """Return the series of a metric: their labels and values."""
    lines = metrics.exposition().decode().splitlines()
    found = [line.removeprefix(name).rpartition(" ") for line in lines if line.startswith((f"{name}{{", f"{name} "))]
    return {labels: float(value) for labels, _, value in found}


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("sso_mail_attempts_total", len(MailServerKind) * len(MailOutcome)),
        ("sso_webhook_attempts_total", len(AttemptOutcome)),
        ("sso_siem_attempts_total", len(AttemptOutcome)),
        ("sso_billing_reconciliations_total", len(ReconciliationOutcome)),
        ("sso_connections_refused_total", len(ConnectionRefusal)),
        ("sso_trace_spans_dropped_total", len(SpanLoss)),
        ("sso_db_connect_failures_total", len(ConnectFailure)),
        ("sso_db_statements_cancelled_total", len(StatementLimit)),
        ("sso_login_failures_total", len(CountedReason)),
        ("sso_work_overdue_seconds", len(POLLED_WORK)),
    ],
)
def test_every_series_of_a_bounded_vocabulary_exists_from_the_start(
    metrics: PrometheusMetrics, name: str, number: int
) -> None:
    found = series(metrics, name)

    assert (len(found), set(found.values())) == (number, {0.0})


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, AttemptOutcome.DELIVERED),
        (404, AttemptOutcome.REFUSED),
        (302, AttemptOutcome.FAILED),
        (503, AttemptOutcome.FAILED),
        (None, AttemptOutcome.UNREACHABLE),
    ],
)
def test_an_attempt_is_counted_by_the_class_of_its_status(status: int | None, outcome: AttemptOutcome) -> None:
    assert AttemptOutcome.of(status, is_success=status == 200) is outcome


def test_processor_time_is_added_up_and_memory_is_the_present_one(metrics: PrometheusMetrics) -> None:
    metrics.usage_measured(ProcessUsage(cpu_seconds=2.0, resident_bytes=300, proportional_bytes=200))
    metrics.usage_measured(ProcessUsage(cpu_seconds=2.5, resident_bytes=200, proportional_bytes=100))

    assert series(metrics, "sso_worker_cpu_seconds_total") == {'{worker="0"}': 2.5}
    assert series(metrics, "sso_worker_memory_bytes") == {
        '{kind="resident",worker="0"}': 200,
        '{kind="proportional",worker="0"}': 100,
    }


def test_a_system_that_does_not_tell_the_proportional_memory_has_no_series_of_it(metrics: PrometheusMetrics) -> None:
    metrics.usage_measured(ProcessUsage(cpu_seconds=2.0, resident_bytes=300, proportional_bytes=None))

    assert series(metrics, "sso_worker_memory_bytes") == {'{kind="resident",worker="0"}': 300}


def test_work_that_is_done_is_late_no_longer_and_unknown_work_adds_no_series(metrics: PrometheusMetrics) -> None:
    metrics.work_overdue({"mail": 12.0, "brewing": 3.0})
    late = series(metrics, "sso_work_overdue_seconds")
    # The clock of another process may be ahead.
    metrics.work_overdue({"mail": -1.0})

    assert {labels: value for labels, value in late.items() if value} == {'{work="mail"}': 12.0}
    assert set(series(metrics, "sso_work_overdue_seconds").values()) == {0.0}


def test_what_waits_is_exposed_until_nothing_does(metrics: PrometheusMetrics) -> None:
    metrics.backlog_measured(
        Backlog(mail_seconds=1.0, routed_mail_seconds=2.0, unsealed_seconds=3.0, failing_streams=4)
    )
    before = [*series(metrics, "sso_mail_oldest_waiting_seconds").values()]
    sealing = series(metrics, "sso_audit_sealing_lag_seconds")
    metrics.backlog_measured(Backlog())

    assert (before, sealing, series(metrics, "sso_siem_streams_failing")) == ([1.0, 2.0], {"": 3.0}, {"": 0.0})
    assert set(series(metrics, "sso_mail_oldest_waiting_seconds").values()) == {0.0}


def test_a_node_that_has_left_the_cluster_holds_nothing(metrics: PrometheusMetrics) -> None:
    one = ClusterNode(name="a:5432", is_up=True, shards=3, bytes=50)
    other = ClusterNode(name="b:5432", is_up=False, shards=5, bytes=0)
    metrics.cluster_measured(Cluster(nodes=[one, other], local_logs=[]))
    before = series(metrics, "sso_cluster_nodes")
    metrics.cluster_measured(Cluster(nodes=[one], local_logs=[]))

    assert before == {'{state="up"}': 1.0, '{state="down"}': 1.0}
    assert series(metrics, "sso_cluster_nodes") == {'{state="up"}': 1.0, '{state="down"}': 0.0}
    assert series(metrics, "sso_cluster_node_shards") == {'{node="a:5432"}': 3.0, '{node="b:5432"}': 0.0}
    assert series(metrics, "sso_cluster_node_bytes") == {'{node="a:5432"}': 50.0, '{node="b:5432"}': 0.0}


def test_spans_are_counted_when_taken_and_when_dropped(metrics: PrometheusMetrics) -> None:
    metrics.spans_exported(5)
    metrics.spans_dropped(2, SpanLoss.QUEUE_FULL)

    assert series(metrics, "sso_trace_spans_exported_total") == {"": 5.0}
    assert series(metrics, "sso_trace_spans_dropped_total")['{reason="queue_full"}'] == 2.0
