"""The exposition: every metric by its name, type and labels, in a bounded number of series."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.prometheus import OTHER, REQUEST_SERIES_MAX, PrometheusMetrics
from core.platform.health_figures import PlatformFigures
from core.platform.system import Cluster, ClusterNode
from core.sign_in.reasons import CountedReason
from entrypoints import capabilities
from ports.listening import PollingRole
from ports.metrics import EXPOSITION_CONTENT_TYPE
from ports.metrics_of_work import MailboxLoad, ProcessUsage, RequestKind, StatementLimit
from tests.shown_text import shows

# Dashboards and alerts of operators rely on them; `ops/docs/monitoring.md` says what each measures.
DOCUMENTED = {
    "sso_http_request_duration_seconds": ("histogram", {"method", "route", "status"}),
    "sso_db_pool_connections_total": ("gauge", {"backend"}),
    "sso_db_pool_connections_idle": ("gauge", {"backend"}),
    "sso_db_pool_connections_max": ("gauge", {"backend"}),
    "sso_db_statements_cancelled_total": ("counter", {"limit"}),
    "sso_db_use_cases_cancelled_total": ("counter", {"use_case", "limit"}),
    "sso_db_connect_failures_total": ("counter", {"reason"}),
    "sso_objective_duration_seconds": ("histogram", {"kind", "outcome"}),
    "sso_external_failures_total": ("counter", {"route"}),
    "sso_backup_last_success_timestamp_seconds": ("gauge", set[str]()),
    "sso_restore_drill_last_success_timestamp_seconds": ("gauge", set[str]()),
    "sso_db_reads_elsewhere_total": ("counter", {"place"}),
    "sso_db_replica_lag_seconds": ("gauge", {"replica"}),
    "sso_db_replica_in_use": ("gauge", {"replica"}),
    "sso_job_queue_depth": ("gauge", set[str]()),
    "sso_job_processing_duration_seconds": ("histogram", {"job_type"}),
    "sso_webhook_delivery_latency_seconds": ("histogram", set[str]()),
    "sso_active_users_total": ("gauge", set[str]()),
    "sso_total_organizations": ("gauge", set[str]()),
    "sso_mfa_enabled_users_total": ("gauge", set[str]()),
    "sso_mfa_adoption_percentage": ("gauge", set[str]()),
    "sso_audit_unsealed_entries": ("gauge", set[str]()),
    "sso_saml_certificates_ending": ("gauge", set[str]()),
    "sso_clock_error_seconds": ("gauge", set()),
    "sso_polling_processes": ("gauge", {"role"}),
    "sso_cluster_nodes": ("gauge", {"state"}),
    "sso_cluster_node_shards": ("gauge", {"node"}),
    "sso_cluster_node_bytes": ("gauge", {"node"}),
    "sso_live_processes": ("gauge", set()),
    "sso_login_failures_total": ("counter", {"reason"}),
    "sso_password_checks_total": ("counter", {"outcome"}),
    "sso_auth_tokens_issued_total": ("counter", set[str]()),
    "sso_actor_up": ("gauge", {"actor"}),
    "sso_actor_restarts_total": ("counter", {"actor"}),
    "sso_mailbox_messages": ("gauge", {"actor"}),
    "sso_mailbox_oldest_seconds": ("gauge", {"actor"}),
    "sso_mail_attempts_total": ("counter", {"server", "outcome"}),
    "sso_mail_oldest_waiting_seconds": ("gauge", {"server"}),
    "sso_webhook_attempts_total": ("counter", {"outcome"}),
    "sso_siem_attempts_total": ("counter", {"outcome"}),
    "sso_siem_lag_seconds": ("histogram", set[str]()),
    "sso_siem_streams_failing": ("gauge", set[str]()),
    "sso_billing_reconciliations_total": ("counter", {"outcome"}),
    "sso_audit_sealing_lag_seconds": ("gauge", set[str]()),
    "sso_work_overdue_seconds": ("gauge", {"work"}),
    "sso_limit_refusals_total": ("counter", {"limit", "reason"}),
    "sso_connections_refused_total": ("counter", {"reason"}),
    "sso_connections_open": ("gauge", set[str]()),
    "sso_data_folder_free_bytes": ("gauge", set[str]()),
    "sso_data_folder_size_bytes": ("gauge", set[str]()),
    "sso_worker_cpu_seconds_total": ("counter", {"worker"}),
    "sso_worker_memory_bytes": ("gauge", {"worker", "kind"}),
    "sso_trace_spans_exported_total": ("counter", set[str]()),
    "sso_trace_spans_dropped_total": ("counter", {"reason"}),
    "sso_build_info": ("gauge", {"version"}),
}


@pytest.fixture
def metrics() -> PrometheusMetrics:
    return PrometheusMetrics(version="1.2.3")


@pytest.fixture
def used(metrics: PrometheusMetrics) -> PrometheusMetrics:
    """Metrics after each event has happened once."""
    metrics.request_finished("GET", "/api/organizations/:slug", 200, 0.004)
    metrics.job_finished("mail", 0.2)
    metrics.webhook_delivered(0.3)
    metrics.login_failed(CountedReason.WRONG_CODE)
    metrics.may_fail_outside("/auth/upstream/callback")
    metrics.token_issued()
    metrics.actor_changed("mail_courier", is_up=True)
    metrics.mailboxes_measured({"mail_courier": MailboxLoad(messages=1, oldest_seconds=0.5)})
    metrics.limit_refused("login", "requests")
    metrics.statement_cancelled("organizations.members.browse", StatementLimit.STATEMENT_TIMEOUT)
    metrics.read_elsewhere("primary")
    metrics.replica_seen("replica:5432", lag_seconds=0.2, is_in_use=True)
    metrics.cluster_measured(
        Cluster(nodes=[ClusterNode(name="worker:5432", is_up=True, shards=32, bytes=2**30)], local_logs=[])
    )
    metrics.usage_measured(ProcessUsage(cpu_seconds=1.5, resident_bytes=2_000, proportional_bytes=1_000))
    metrics.figures_refreshed(
        PlatformFigures(
            active_users=4, organizations=2, mfa_users=1, queued_mails=0, queued_deliveries=0, certificates_ending=0
        )
    )
    return metrics


def lines(metrics: PrometheusMetrics) -> list[str]:
    return metrics.exposition().decode().splitlines()


@pytest.mark.parametrize(("name", "type_and_labels"), DOCUMENTED.items(), ids=DOCUMENTED)
def test_every_documented_metric_has_its_name_type_and_labels(
    used: PrometheusMetrics, name: str, type_and_labels: tuple[str, set[str]]
) -> None:
    kind, labels = type_and_labels

    exposition = used.exposition().decode()

    assert f"# TYPE {name} {kind}" in exposition.splitlines()
    samples = [
        sample
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
        if sample.name in {name, f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    ]
    assert samples
    assert {frozenset(sample.labels) - {"le"} for sample in samples} == {frozenset(labels)}


def test_no_other_metric_of_gatehouse_is_exposed(used: PrometheusMetrics) -> None:
    names = {line.split()[2] for line in lines(used) if line.startswith("# TYPE sso_")}

    assert names == DOCUMENTED.keys()


def test_the_content_type_is_the_documented_one() -> None:
    assert EXPOSITION_CONTENT_TYPE == "text/plain; version=0.0.4"


@pytest.mark.parametrize("name", ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"])
def test_process_metrics_are_exposed(metrics: PrometheusMetrics, name: str) -> None:
    assert any(line.startswith(f"{name} ") for line in lines(metrics))


def test_the_build_info_contains_the_version(metrics: PrometheusMetrics) -> None:
    assert 'sso_build_info{version="1.2.3"} 1.0' in lines(metrics)


def test_the_restarts_of_an_embedded_database_are_exposed_where_there_is_one(metrics: PrometheusMetrics) -> None:
    embedded = PrometheusMetrics(version="1.2.3", count_database_restarts=lambda: 2)

    assert "sso_embedded_database_restarts_total 2.0" in lines(embedded)
    assert not any(shows(line, "embedded") for line in lines(metrics))


def test_replaced_workers_are_exposed_by_the_reason_where_there_are_workers(metrics: PrometheusMetrics) -> None:
    worker = PrometheusMetrics(version="1.2.3", count_replaced_workers=lambda: {"died": 2, "hung": 1})

    assert {
        'sso_workers_replaced_total{reason="died"} 2.0',
        'sso_workers_replaced_total{reason="hung"} 1.0',
    } <= set(lines(worker))
    assert not any("workers_replaced" in line for line in lines(metrics))


def test_a_request_is_counted_under_its_template_and_the_class_of_its_status(metrics: PrometheusMetrics) -> None:
    metrics.request_finished("GET", "/api/organizations/:slug", 200, 0.004)
    metrics.request_finished("GET", "/api/organizations/:slug", 204, 0.004)
    metrics.request_finished("GET", "/api/organizations/:slug", 404, 0.004)

    labels = 'method="GET",route="/api/organizations/:slug"'
    assert f'sso_http_request_duration_seconds_count{{{labels},status="2xx"}} 2.0' in lines(metrics)
    assert f'sso_http_request_duration_seconds_count{{{labels},status="4xx"}} 1.0' in lines(metrics)


def test_what_others_have_caused_is_no_failure_of_ours(metrics: PrometheusMetrics) -> None:
    metrics.request_finished("GET", "/auth/codehost/callback", 500, 0.004, is_external=True)
    metrics.request_finished("GET", "/auth/codehost/callback", 500, 0.004)

    labels = 'method="GET",route="/auth/codehost/callback"'
    assert f'sso_http_request_duration_seconds_count{{{labels},status="external"}} 1.0' in lines(metrics)
    assert f'sso_http_request_duration_seconds_count{{{labels},status="5xx"}} 1.0' in lines(metrics)


def test_a_request_counts_towards_the_objective_of_its_kind(metrics: PrometheusMetrics) -> None:
    metrics.request_finished("POST", "/api/auth/login", 200, 0.3, kind=RequestKind.SIGN_IN)
    metrics.request_finished("POST", "/api/auth/login", 401, 0.3, kind=RequestKind.SIGN_IN)
    metrics.request_finished("POST", "/api/auth/login", 503, 0.3, kind=RequestKind.SIGN_IN)
    metrics.request_finished("GET", "/health", 503, 0.3)

    counts = [line for line in lines(metrics) if line.startswith("sso_objective_duration_seconds_count")]
    assert sorted(counts) == [
        'sso_objective_duration_seconds_count{kind="call",outcome="failed"} 0.0',
        'sso_objective_duration_seconds_count{kind="call",outcome="served"} 0.0',
        'sso_objective_duration_seconds_count{kind="sign_in",outcome="failed"} 1.0',
        'sso_objective_duration_seconds_count{kind="sign_in",outcome="served"} 2.0',
    ]


def test_what_others_have_caused_counts_apart_and_towards_no_objective(metrics: PrometheusMetrics) -> None:
    metrics.may_fail_outside("/auth/codehost/callback")
    before = [line for line in lines(metrics) if line.startswith("sso_external_failures_total{")]
    metrics.request_finished("GET", "/auth/codehost/callback", 500, 0.3, is_external=True, kind=RequestKind.SIGN_IN)

    assert before == ['sso_external_failures_total{route="/auth/codehost/callback"} 0.0']
    assert 'sso_external_failures_total{route="/auth/codehost/callback"} 1.0' in lines(metrics)
    assert 'sso_objective_duration_seconds_count{kind="sign_in",outcome="failed"} 0.0' in lines(metrics)
    assert 'sso_objective_duration_seconds_count{kind="sign_in",outcome="served"} 0.0' in lines(metrics)


def test_a_duration_is_counted_in_its_bucket(metrics: PrometheusMetrics) -> None:
    metrics.request_finished("GET", "/health", 200, 0.004)

    series = 'sso_http_request_duration_seconds_bucket{{le="{}",method="GET",route="/health",status="2xx"}} {}'
    assert series.format("0.0025", "0.0") in lines(metrics)
    assert series.format("0.005", "1.0") in lines(metrics)
    assert series.format("+Inf", "1.0") in lines(metrics)


def test_unknown_methods_share_one_label(metrics: PrometheusMetrics) -> None:
    for number in range(100):
        metrics.request_finished(f"BREW{number}", "unmatched", 405, 0.001)

    counts = [line for line in lines(metrics) if line.startswith("sso_http_request_duration_seconds_count")]
    assert counts == [
        f'sso_http_request_duration_seconds_count{{method="{OTHER}",route="unmatched",status="4xx"}} 100.0'
    ]


def test_the_series_of_requests_are_bounded_and_lose_no_request(metrics: PrometheusMetrics) -> None:
    requests = REQUEST_SERIES_MAX + 500

    for number in range(requests):
        metrics.request_finished("GET", f"/{number}", 200, 0.001)

    counts = [line for line in lines(metrics) if line.startswith("sso_http_request_duration_seconds_count")]
    assert len(counts) == REQUEST_SERIES_MAX + 1
    assert sum(float(line.rsplit(" ", 1)[1]) for line in counts) == requests
    assert any(f'route="{OTHER}"' in line and line.endswith(" 500.0") for line in counts)


def test_requests_that_are_refused_take_no_series_from_those_that_are_served_or_fail(
    metrics: PrometheusMetrics,
) -> None:
    for number in range(REQUEST_SERIES_MAX + 1):
        metrics.request_finished("GET", f"/{number}", 401, 0.001)

    metrics.request_finished("GET", "/late", 200, 0.001)
    metrics.request_finished("GET", "/late", 500, 0.001)
    metrics.request_finished("GET", "/late", 502, 0.001, is_external=True)

    for status in ("2xx", "5xx", "external"):
        assert f'sso_http_request_duration_seconds_count{{method="GET",route="/late",status="{status}"}} 1.0' in lines(
            metrics
        )


def test_every_route_has_room_among_the_series_of_a_class() -> None:
    declared = capabilities.routes(is_development=True, has_billing_provider=True)

    # HEAD is served wherever GET is.
    methods = {"GET": ("GET", "HEAD")}
    pairs = {(method, route.path) for route in declared for method in methods.get(route.method, (route.method,))}

    assert len(pairs) <= REQUEST_SERIES_MAX


def test_an_existing_series_is_still_counted_when_no_other_may_be_added(metrics: PrometheusMetrics) -> None:
    for number in range(REQUEST_SERIES_MAX):
        metrics.request_finished("GET", f"/{number}", 200, 0.001)

    metrics.request_finished("GET", "/0", 200, 0.001)

    assert 'sso_http_request_duration_seconds_count{method="GET",route="/0",status="2xx"} 2.0' in lines(metrics)


def test_two_registries_are_independent(used: PrometheusMetrics) -> None:
    assert "sso_auth_tokens_issued_total 1.0" in lines(used)
    assert "sso_auth_tokens_issued_total 0.0" in lines(PrometheusMetrics(version="other"))


def test_without_users_the_mfa_adoption_is_zero(metrics: PrometheusMetrics) -> None:
    metrics.figures_refreshed(
        PlatformFigures(
            active_users=0, organizations=0, mfa_users=0, queued_mails=0, queued_deliveries=0, certificates_ending=0
        )
    )

    assert "sso_mfa_adoption_percentage 0.0" in lines(metrics)


def test_a_process_has_one_role_of_polling(metrics: PrometheusMetrics) -> None:
    metrics.polling_changed(PollingRole.ALONE)
    metrics.polling_changed(PollingRole.LISTENING)

    assert {
        'sso_polling_processes{role="polling"} 0.0',
        'sso_polling_processes{role="listening"} 1.0',
        'sso_polling_processes{role="alone"} 0.0',
    } <= set(lines(metrics))


def test_no_series_has_a_creation_time(used: PrometheusMetrics) -> None:
    assert not [line for line in lines(used) if "_created" in line]
