"""The alerts and the dashboard: promtool reads each query, each metric in them exists, each alert has a runbook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.prometheus import PrometheusMetrics
from core.platform.system import Cluster, ClusterNode
from core.sign_in.reasons import CountedReason
from entrypoints import capabilities, equipment
from entrypoints.logs import dropped_lines
from entrypoints.shared.platform import late_work
from entrypoints.web.serving.application import Application
from entrypoints.workers_memory import ReplacementReason
from ports.actors import MESSAGE_SECONDS_MAX
from ports.metrics_of_work import MailboxLoad, ProcessUsage, StatementLimit
from tests.documents import MANUAL, ROOT, anchors
from tests.ops.alert_rules import ALERTS, COUNTED, MONITORING, alerts, needs_promtool, promtool, records
from tests.web.probe import ask, make_installation

DASHBOARD = MONITORING / "dashboard.json"
PAGE = MANUAL / "monitoring.md"
# What Grafana and Prometheus put in by themselves.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}
PROMETHEUS_OWN = {"up"}
SEVERITIES = {"critical", "warning", "info"}
METRIC = re.compile(r"\b(?:sso|process|python)_[a-z0-9_]+\b|\bup\b")


PROVOKING = ROOT / "tests" / "ops" / "test_provoked_alerts.py"
# Alerts that no test provokes on a real server, and why.
NOT_PROVOKED = {
    "GatehouseMailboxStands": "each unit of work has a limit of time, so that only a defect lets a box stand",
    "GatehouseMissing": "it says that Prometheus has no target, so there is no server to scrape",
    "GatehouseWorkerMemory": "a worker would have to take 400 MiB of the machine of the tests",
    "GatehouseWorkerBusy": "a processor would have to be busy for minutes",
    "GatehouseClusterNodeDown": "it needs a cluster of Citus; tests/actors/test_metrics_refresher.py takes a node away",
    "GatehouseDataFolderFull": "it needs a small file system; tests/entrypoints/test_full_data_folder.py mounts one",
    "GatehouseReconciliationFails": "it needs sales at a payment provider; tests/actors count what its answers lead to",
    "GatehouseSubscriptionConflict": "the same",
}


def ruled() -> list[tuple[str, str]]:
    """Return each query of the rules with the name of its alert or result."""
    return [*((name, alert["query"]) for name, alert in alerts().items()), *records().items()]


def queries(panels: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each query of the dashboard with the title of its panel."""
    for panel in panels:
        for target in panel.get("targets", ()):
            query: str = target["expr"]
            for variable, value in VARIABLES.items():
                query = query.replace(variable, value)
            assert "$" not in query, f"{panel['title']}: a variable that the test does not know"
            yield panel["title"], query


def dashboard() -> list[tuple[str, str]]:
    return list(queries(json.loads(DASHBOARD.read_text())["panels"]))


@pytest.fixture
async def exported() -> dict[str, set[str]]:
    """The series that an application exposes, with their labels, and those that only some processes have."""
    application = Application(make_installation(), capabilities.routes(is_development=False))
    exposition = (await ask(application, "GET", "/metrics")).content.decode()
    others = PrometheusMetrics(
        version="1.2.3",
        count_database_restarts=lambda: 0,
        count_dropped_lines=dropped_lines,
        count_replaced_workers=lambda: {reason.value: 0 for reason in ReplacementReason},
    )
    others.request_finished("GET", "/health", 200, 0.1)
    others.job_finished("mail", 0.1)
    others.login_failed(CountedReason.INVALID_CREDENTIALS)
    others.may_fail_outside("/auth/upstream/callback")
    others.limit_refused("login", "requests")
    others.actor_changed("mail_courier", is_up=True)
    others.mailboxes_measured({"mail_courier": MailboxLoad(0, 0)})
    others.statement_cancelled("organizations.members.browse", StatementLimit.STATEMENT_TIMEOUT)
    others.read_elsewhere("primary")
    others.replica_seen("db2:5432", lag_seconds=0.1, is_in_use=True)
    others.usage_measured(ProcessUsage(cpu_seconds=1, resident_bytes=1, proportional_bytes=1))
    node = ClusterNode(name="worker:5432", is_up=True, shards=1, bytes=1)
    others.cluster_measured(Cluster(nodes=[node], local_logs=[]))
    found: dict[str, set[str]] = {}
    for text in (exposition, others.exposition().decode()):
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.fixture
async def at_the_start() -> dict[str, list[tuple[dict[str, str], float]]]:
    """The series of a process that has started and served nothing: by name, with their labels and values."""
    metrics = equipment.metrics(worker=None, memory=None, count_database_restarts=lambda: 0)
    with_workers = PrometheusMetrics(
        version="1.2.3", count_replaced_workers=lambda: {reason.value: 0 for reason in ReplacementReason}
    )
    # Each starts its actors first of all.
    metrics.actor_changed("mail_courier", is_up=True)
    metrics.mailboxes_measured({"mail_courier": MailboxLoad(0, 0)})
    Application(replace(make_installation(), metrics=metrics), capabilities.routes(is_development=False))
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for text in (metrics.exposition().decode(), with_workers.exposition().decode()):
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found.setdefault(sample.name, []).append((dict(sample.labels), sample.value))
    return found


# What shows how requests and jobs are distributed. Their series begin with the first of a route or a kind, because
# there would be thousands of them; no rule asks whether there was any.
DISTRIBUTIONS = re.compile(r"sso_(http_request|job_processing)_duration_seconds_(bucket|count)")
CHOICE = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
# Added by Prometheus.
ADDED = {"instance", "job"}


def is_chosen(labels: dict[str, str], chosen: str) -> bool:
    """Return whether a series has the labels by which a query chooses."""
    fits = {
        "=": lambda value, text: value == text,
        "!=": lambda value, text: value != text,
        "=~": lambda value, text: re.fullmatch(text, value) is not None,
        "!~": lambda value, text: re.fullmatch(text, value) is None,
    }
    choices = [one for one in CHOICE.findall(chosen) if one[0] not in ADDED]
    return all(fits[how](labels.get(name, ""), text) for name, how, text in choices)


async def test_each_counter_of_a_rule_or_a_panel_is_zero_from_the_start(
    at_the_start: dict[str, list[tuple[dict[str, str], float]]],
) -> None:
    counted = {
        (where, metric, chosen)
        for where, query in [*ruled(), *dashboard()]
        for metric, chosen in COUNTED.findall(query)
        if not (where not in alerts() | records() and DISTRIBUTIONS.fullmatch(metric))
    }
    lacking: list[tuple[str, str, str]] = []
    for where, metric, chosen in sorted(counted):
        series = [value for labels, value in at_the_start.get(metric, []) if is_chosen(labels, chosen)]
        if not series or any(series):
            lacking.append((where, metric, chosen))

    assert ("GatehouseStatementsCancelled", "sso_db_statements_cancelled_total", "") in counted
    assert ("GatehouseProviderFails", "sso_external_failures_total", 'route=~"/auth/.*"') in counted
    assert len({where for where, _, _ in counted} & alerts().keys()) > 15
    # Processor time is used by the start itself.
    assert [one for one in lacking if one[1] != "sso_worker_cpu_seconds_total"] == []


async def test_what_a_process_exposes_at_its_start_is_bounded(
    at_the_start: dict[str, list[tuple[dict[str, str], float]]],
) -> None:
    # As the page says to operators: a scrape of each fifteen seconds carries them all.
    assert sum(len(series) for name, series in at_the_start.items() if name.startswith("sso_")) < 400


@needs_promtool
def test_promtool_reads_the_alerts_and_the_example_configuration() -> None:
    assert f"SUCCESS: {len(alerts()) + len(records())} rules found" in promtool("check", "rules", ALERTS)
    assert "SUCCESS" in promtool("check", "config", MONITORING / "prometheus.example.yaml")


@needs_promtool
def test_promtool_reads_each_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = tmp_path / "dashboard.yaml"
    # JSON is YAML.
    records = [{"record": f"panel:{number}", "expr": query} for number, (_, query) in enumerate(dashboard())]
    rules.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": records}]}))

    assert f"SUCCESS: {len(records)} rules found" in promtool("check", "rules", rules)
    assert len(records) > 40


async def test_each_metric_of_an_alert_or_a_panel_is_exported(exported: dict[str, set[str]]) -> None:
    named = {(where, metric) for where, query in [*ruled(), *dashboard()] for metric in METRIC.findall(query)}

    assert ("GatehouseDown", "up") in named
    assert ("GatehouseMailWaits", "sso_mail_oldest_waiting_seconds") in named
    assert [(where, metric) for where, metric in sorted(named) if metric not in exported.keys() | PROMETHEUS_OWN] == []


async def test_each_label_by_which_a_query_chooses_series_exists(exported: dict[str, set[str]]) -> None:
    wrong = [
        (where, metric, label)
        for where, query in [*ruled(), *dashboard()]
        for metric, chosen in re.findall(r"(sso_\w+)\{([^}]*)\}", query)
        for label in re.findall(r"(\w+)(?:=~|!~|!=|=)", chosen)
        if label not in exported[metric] | {"instance", "job"}
    ]

    assert wrong == []


def test_each_alert_is_provoked_on_a_real_server_or_it_is_said_why_not() -> None:
    provoked = set(re.findall(r'assert scrapes\.holds\("(\w+)"\)', PROVOKING.read_text()))

    assert len(provoked) > 25
    assert provoked & NOT_PROVOKED.keys() == set()
    assert provoked | NOT_PROVOKED.keys() == alerts().keys()


def test_each_alert_has_a_severity_a_summary_and_a_runbook_that_exists() -> None:
    assert len(alerts()) >= 25
    for name, alert in alerts().items():
        path, _, anchor = alert["runbook"].partition("#")
        assert alert["severity"] in SEVERITIES, name
        assert alert["summary"].endswith("."), name
        assert (ROOT / path).is_file(), name
        assert path.startswith("ops/runbooks/"), name
        assert not anchor or anchor in anchors(ROOT / path), name
        assert f"(../runbooks/{path.removeprefix('ops/runbooks/')})" in PAGE.read_text(), name


async def test_each_exported_metric_is_in_the_manual_and_each_metric_of_the_manual_is_exported(
    exported: dict[str, set[str]],
) -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    documented = {metric for row in rows for metric in METRIC.findall(row.split("|")[1])}

    # A histogram is documented by its name.
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exported}

    assert names - documented == set()
    assert documented - names == set()


@pytest.mark.parametrize(
    ("alert", "limit"),
    [
        ("GatehouseWorkLate", late_work.DUE_SECONDS_MAX),
        ("GatehouseMailWaits", late_work.MAIL_SECONDS_MAX),
        ("GatehouseMailFails", late_work.MAILS_NOT_TAKEN_SHARE_MAX),
        ("GatehouseAuditNotSealed", late_work.UNSEALED_SECONDS_MAX),
        ("GatehouseQueueLong", late_work.QUEUED_MAX),
        ("GatehouseMailboxStands", MESSAGE_SECONDS_MAX),
    ],
)
def test_the_limits_of_the_doctor_and_of_the_page_of_the_system_are_those_of_the_alerts(
    alert: str, limit: float
) -> None:
    [threshold] = re.findall(r"> ([\d.]+)$", alerts()[alert]["query"].strip())

    assert float(threshold) == limit
