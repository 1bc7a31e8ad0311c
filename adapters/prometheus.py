"""The metrics with prometheus-client.

Each process has its own registry, so that metrics which libraries register are not exposed. The names, types and labels
below are an interface that dashboards use. So they stay, also where a name breaks the convention for its type (`_total`
for a gauge).

With several workers, a scrape reaches any one of them and must return the counts of all. So they count in memory that
all of them read (`prometheus_shared.py`), and the replacement of a worker continues its counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    Metric,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
    values,
)
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector

from adapters.prometheus_shared import SharedMetrics
from adapters.prometheus_work import PrometheusWorkMetrics
from core.platform.health_figures import PlatformFigures
from core.sign_in.reasons import CountedReason
from ports.listening import PollingRole
from ports.metrics import PoolStatistics
from ports.metrics_of_work import PasswordCheckOutcome, RequestKind

# An objective is a share of requests below one of these.
OBJECTIVE_SECONDS_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
REQUEST_SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
JOB_SECONDS_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# Up to the last attempt of a delivery, which comes hours after the event.
WEBHOOK_SECONDS_BUCKETS = (0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0, 10800.0)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
# In place of a class of statuses: 5xx whose cause is a caller or the system of another party.
EXTERNAL = 0
SERVER_ERROR = 500
# Of each class of status: some 670 routes, and HEAD for each GET. What is more is counted under one label, so that
# memory stays bounded. A client that asks for every path, and is refused, uses up the series of refusals alone.
REQUEST_SERIES_MAX = 1_500

_BACKEND = "postgres"


class PrometheusMetrics(PrometheusWorkMetrics):
    """The port `Metrics`; a worker, which has a number, counts in what it shares with the others."""

    def __init__(
        self,
        *,
        version: str,
        worker: int = 0,
        shared: SharedMetrics | None = None,
        limits: Iterable[tuple[str, str]] = (),
        count_database_restarts: Callable[[], int] | None = None,
        count_replaced_workers: Callable[[], Mapping[str, int]] | None = None,
        count_dropped_lines: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        # The creation times would double the number of series, and nothing uses them.
        disable_created_metrics()
        if shared is not None:
            # The library makes the values of all metrics by this, which it only calls.
            values.ValueClass = cast("Any", shared.take(worker))
        registry = CollectorRegistry()
        super().__init__(registry, worker=worker, limits=limits)
        self._of_this_process = _of_this_process(version, is_alone=shared is None)
        if count_database_restarts is not None:
            # All workers read one count.
            self._of_this_process.register(_DatabaseRestarts(count_database_restarts))
        if count_replaced_workers is not None:
            # The parent of the workers counts, and all of them read it.
            meaning = "Workers that were replaced, because they died or because they hung and were ended."
            self._of_this_process.register(_Counts("sso_workers_replaced", meaning, "reason", count_replaced_workers))
        if count_dropped_lines is not None:
            # The parent of the workers and all of them have the counts of the log in common.
            meaning = "Lines of the log that were dropped because nothing read them, or because a disk was full."
            self._of_this_process.register(_Counts("sso_log_lines_dropped", meaning, "level", count_dropped_lines))
        self._of_all = registry if shared is None else _of_all_workers(shared)

        self._requests = Histogram(
            "sso_http_request_duration_seconds",
            "The duration of requests, by method, route template and class of the status; 5xx are failures of Gatehouse"
            " alone, external is 5xx that a caller or the system of another party has caused.",
            ("method", "route", "status"),
            buckets=REQUEST_SECONDS_BUCKETS,
            registry=registry,
        )
        self._external_failures = self._counter(
            "sso_external_failures_total",
            "Requests that failed because of a caller or the system of another party, by route template.",
            "route",
        )
        objectives = Histogram(
            "sso_objective_duration_seconds",
            "The duration of requests that count towards an objective, by its kind and by whether they were served;"
            " what failed because of a caller or the system of another party counts towards none.",
            ("kind", "outcome"),
            buckets=OBJECTIVE_SECONDS_BUCKETS,
            registry=registry,
        )
        self._observe_objective = {
            (kind, is_failed): objectives.labels(kind.value, "failed" if is_failed else "served").observe
            for kind in RequestKind
            for is_failed in (False, True)
        }
        self._observe_request: dict[tuple[str, str, int], Callable[[float], None]] = {}
        self._request_series_of_class: dict[int, int] = {}

        def pool_gauge(name: str, meaning: str) -> Gauge:
            # Every worker has its own pool.
            return self._gauge(f"sso_db_pool_connections_{name}", meaning, "backend", mode="sum").labels(_BACKEND)

        def figure(name: str, meaning: str) -> Gauge:
            # Every worker reads the same database.
            return self._gauge(name, meaning, mode="mostrecent")

        self._pool_total = pool_gauge("total", "Open database connections.")
        self._pool_idle = pool_gauge("idle", "Open database connections that are not in use.")
        self._pool_maximum = pool_gauge("max", "The limit on open database connections.")

        self._queue_depth = figure("sso_job_queue_depth", "Background jobs that are waiting.")
        self._jobs = Histogram(
            "sso_job_processing_duration_seconds",
            "The duration of background jobs.",
            ("job_type",),
            buckets=JOB_SECONDS_BUCKETS,
            registry=registry,
        )
        self._webhooks = Histogram(
            "sso_webhook_delivery_latency_seconds",
            "The time from an event to the delivery of its webhook.",
            buckets=WEBHOOK_SECONDS_BUCKETS,
            registry=registry,
        )

        self._active_users = figure("sso_active_users_total", "Accounts in use.")
        self._organizations = figure("sso_total_organizations", "Organizations.")
        self._mfa_users = figure("sso_mfa_enabled_users_total", "Accounts in use with multi-factor authentication.")
        self._mfa_adoption = figure(
            "sso_mfa_adoption_percentage", "The share of accounts in use with multi-factor authentication, 0 to 100."
        )

        self._certificates_ending = figure(
            "sso_saml_certificates_ending", "Active SAML certificates that end within 30 days, or have ended."
        )

        self._unsealed_entries = figure(
            "sso_audit_unsealed_entries",
            "Audit entries of all organizations that are not sealed yet, as the process that seals them counts them.",
        )

        self._login_failures = self._counter(
            "sso_login_failures_total", "Refused sign-ins, by reason.", reason=CountedReason
        )
        self._password_checks = self._counter(
            "sso_password_checks_total",
            "Passwords that were looked for among breached ones, by what came of it; failed ones count as clean.",
            outcome=PasswordCheckOutcome,
        )
        self._tokens = self._counter("sso_auth_tokens_issued_total", "Access tokens issued.")

        polling = self._gauge(
            "sso_polling_processes",
            "Processes by what they do about polling: one polls for all, the others listen, or each polls alone.",
            "role",
            mode="sum",
        )
        self._polling = {role: polling.labels(role.value) for role in PollingRole}
        # Each has heard of the same announcements.
        self._live_processes = figure(
            "sso_live_processes",
            "Processes that serve on the database, as each of them knows; 0 until it has heard of them.",
        )

        self._clock_error = self._gauge(
            "sso_clock_error_seconds",
            "By how much the clock of the machine or of the database differs from a process's time; the worst counts.",
            mode="max",
        )

        # An actor that is down in any worker counts as down.
        self._actors_up = self._gauge("sso_actor_up", "Whether an actor is running.", "actor", mode="min")
        self._actor_restarts = self._counter("sso_actor_restarts_total", "Restarts of an actor after a crash.", "actor")

        # Without replicas there are no series; of several processes the worst counts.
        self._reads_elsewhere = self._counter(
            "sso_db_reads_elsewhere_total",
            "Use cases that read what may be read from a replica, by the place that answered: a replica or primary.",
            "place",
        )
        self._replica_lag = self._gauge(
            "sso_db_replica_lag_seconds",
            "How far a replica is behind the primary, as the last look has found it.",
            "replica",
            mode="max",
        )
        self._replicas_in_use = self._gauge(
            "sso_db_replica_in_use", "Whether a replica is read from.", "replica", mode="min"
        )

    def request_finished(
        self,
        method: str,
        route: str,
        status: int,
        seconds: float,
        *,
        is_external: bool = False,
        kind: RequestKind | None = None,
    ) -> None:
        # This runs for every request, and a dict finds the series ten times faster than the library does.
        key = (method, route, EXTERNAL if is_external else status // 100)
        (self._observe_request.get(key) or self._request_series(*key))(seconds)
        if is_external:
            self._external_failures.labels(route).inc()
        elif kind is not None:
            self._observe_objective[kind, status >= SERVER_ERROR](seconds)

    def may_fail_outside(self, route: str) -> None:
        self._external_failures.labels(route)

    def job_finished(self, job_type: str, seconds: float) -> None:
        self._jobs.labels(job_type).observe(seconds)

    def webhook_delivered(self, seconds: float) -> None:
        self._webhooks.observe(seconds)

    def login_failed(self, reason: CountedReason) -> None:
        self._login_failures.labels(reason.value).inc()

    def password_checked(self, outcome: PasswordCheckOutcome) -> None:
        self._password_checks.labels(outcome.value).inc()

    def token_issued(self) -> None:
        self._tokens.inc()

    def figures_refreshed(self, figures: PlatformFigures) -> None:
        self._active_users.set(figures.active_users)
        self._organizations.set(figures.organizations)
        self._mfa_users.set(figures.mfa_users)
        self._mfa_adoption.set(figures.mfa_adoption_percentage)
        self._queue_depth.set(figures.queued_mails + figures.queued_deliveries)
        self._certificates_ending.set(figures.certificates_ending)

    def clock_compared(self, error_seconds: float) -> None:
        self._clock_error.set(abs(error_seconds))

    def processes_counted(self, number: int) -> None:
        self._live_processes.set(number)

    def polling_changed(self, role: PollingRole) -> None:
        for one, gauge in self._polling.items():
            gauge.set(one is role)

    def audit_entries_unsealed(self, entries: int) -> None:
        self._unsealed_entries.set(entries)

    def pool_measured(self, statistics: PoolStatistics) -> None:
        self._pool_total.set(statistics.total)
        self._pool_idle.set(statistics.idle)
        self._pool_maximum.set(statistics.maximum)

    def actor_changed(self, name: str, *, is_up: bool) -> None:
        self._actors_up.labels(name).set(is_up)
        # A series that appears with its first restart would hide that restart from `rate()`.
        self._actor_restarts.labels(name)

    def actor_restarted(self, name: str) -> None:
        self._actor_restarts.labels(name).inc()

    def read_elsewhere(self, place: str) -> None:
        self._reads_elsewhere.labels(place).inc()

    def replica_seen(self, replica: str, *, lag_seconds: float | None, is_in_use: bool) -> None:
        self._replicas_in_use.labels(replica).set(is_in_use)
        if lag_seconds is not None:
            self._replica_lag.labels(replica).set(lag_seconds)

    def exposition(self) -> bytes:
        return generate_latest(self._of_this_process) + generate_latest(self._of_all)

    def _request_series(self, method: str, route: str, status_class: int) -> Callable[[float], None]:
        # The client chooses the method, so an unknown one becomes neither a label nor a key.
        key = (method if method in METHODS else OTHER, route, status_class)
        if key not in self._observe_request:
            series = self._request_series_of_class.get(status_class, 0)
            if series >= REQUEST_SERIES_MAX:
                key = (OTHER, OTHER, status_class)
            else:
                self._request_series_of_class[status_class] = series + 1
        method, route, _ = key
        label = "external" if status_class == EXTERNAL else f"{status_class}xx"
        observe = self._observe_request[key] = self._requests.labels(method, route, label).observe
        return observe


class _DatabaseRestarts(Collector):
    """The count of a keeper, which is not a metric of the library."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def collect(self) -> Iterable[Metric]:
        yield CounterMetricFamily(
            "sso_embedded_database_restarts",
            "Restarts of the embedded PostgreSQL after it died.",
            value=self._count(),
        )


class _Counts(Collector):
    """Counts by the values of a label, which are no metric of the library."""

    def __init__(self, name: str, meaning: str, label: str, count: Callable[[], Mapping[str, int]]) -> None:
        self._name, self._meaning, self._label, self._count = name, meaning, label, count

    def collect(self) -> Iterable[Metric]:
        family = CounterMetricFamily(self._name, self._meaning, labels=(self._label,))
        for value, count in self._count().items():
            family.add_metric((value,), count)
        yield family


def _of_this_process(version: str, *, is_alone: bool) -> CollectorRegistry:
    registry = CollectorRegistry()
    PlatformCollector(registry=registry)
    Info("sso_build", "The running version.", registry=registry).info({"version": version})
    if is_alone:
        # With several workers, a scrape would show the memory of an arbitrary one.
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
    return registry


def _of_all_workers(shared: SharedMetrics) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(shared.collector())
    return registry
