"""The metrics of what Gatehouse sends, refuses and uses, with prometheus-client: the port `WorkMetrics`.

Every series of a bounded vocabulary exists from the start, so that `rate()` sees also its first event. What one process
of the installation measures for all of them is 0 in the others, and a scrape of several workers shows the largest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import product
from typing import Final, Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from core.platform.health_figures import Backlog
from core.platform.system import Cluster
from ports.mailboxes import POLLED_WORK
from ports.metrics_of_work import (
    AttemptOutcome,
    ConnectFailure,
    ConnectionRefusal,
    FolderSpace,
    MailboxLoad,
    MailOutcome,
    MailServerKind,
    ProcessUsage,
    ReconciliationOutcome,
    SpanLoss,
    StatementLimit,
)

# A stream collects entries for some seconds, and one that failed waits up to ten minutes.
SIEM_SECONDS_BUCKETS: Final = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 21600.0, 86400.0)
# How a scrape of several workers puts the values of a gauge together.
Mode: TypeAlias = Literal["max", "min", "mostrecent", "sum"]


class PrometheusWorkMetrics:
    """The port `WorkMetrics`, in the registry of a process; `worker` is its number.

    `limits` are all limits that refuse requests, each with what it counts.
    """

    def __init__(self, registry: CollectorRegistry, *, worker: int, limits: Iterable[tuple[str, str]]) -> None:
        self._registry = registry
        self._mails = self._counter(
            "sso_mail_attempts_total",
            "Attempts to send a mail, by whose server it leaves by and by what became of it.",
            "server",
            "outcome",
        )
        for server, outcome in product(MailServerKind, MailOutcome):
            self._mails.labels(server.value, outcome.value)
        self._webhook_attempts = self._counter(
            "sso_webhook_attempts_total", "Attempts to deliver to webhooks, by what they got.", outcome=AttemptOutcome
        )
        self._siem_attempts = self._counter(
            "sso_siem_attempts_total", "Batches that were sent to SIEMs, by what they got.", outcome=AttemptOutcome
        )
        self._siem_lag = Histogram(
            "sso_siem_lag_seconds",
            "The age of the oldest audit entry of a batch when a SIEM has received it.",
            buckets=SIEM_SECONDS_BUCKETS,
            registry=registry,
        )
        self._reconciliations = self._counter(
            "sso_billing_reconciliations_total",
            "Subscriptions that were read from the payment provider, by what that led to.",
            outcome=ReconciliationOutcome,
        )
        self._limits = self._counter(
            "sso_limit_refusals_total",
            "Requests that a limit refused, by the limit and by what it counts.",
            "limit",
            "reason",
        )
        for limit, reason in limits:
            self._limits.labels(limit, reason)
        self._refused_connections = self._counter(
            "sso_connections_refused_total",
            "Connections that were refused or had to wait, by the reason: the share of the client, all connections in"
            " use, or no file descriptors left.",
            reason=ConnectionRefusal,
        )
        self._open_connections = self._gauge("sso_connections_open", "Open connections of clients.", mode="sum")
        # A replaced worker has left its number.
        self._connections = 0
        self._open_connections.set(0)

        self._worker = str(worker)
        self._cpu = self._counter(
            "sso_worker_cpu_seconds_total", "Processor seconds of each worker and of those that it replaced.", "worker"
        ).labels(self._worker)
        self._cpu_seconds = 0.0
        self._memory = self._gauge(
            "sso_worker_memory_bytes",
            "Memory of each worker: resident counts shared pages in each, proportional divides them.",
            "worker",
            "kind",
            mode="mostrecent",
        )
        self._resident = self._memory.labels(self._worker, "resident")
        self._free = self._gauge(
            "sso_data_folder_free_bytes",
            "What may still be written on the file system of the data folder.",
            mode="mostrecent",
        )
        self._size = self._gauge(
            "sso_data_folder_size_bytes", "The size of the file system of the data folder.", mode="mostrecent"
        )

        overdue = self._of_installation(
            "sso_work_overdue_seconds",
            "For how long background work has been due and is not done, by its kind.",
            "work",
        )
        self._overdue = {work.value: overdue.labels(work.value) for work in sorted(POLLED_WORK)}
        self._messages = self._gauge(
            "sso_mailbox_messages", "Messages that wait for an actor, in all workers.", "actor", mode="sum"
        )
        self._oldest_message = self._gauge(
            "sso_mailbox_oldest_seconds",
            "For how long the oldest message has waited for an actor, in the worst worker.",
            "actor",
            mode="max",
        )
        mail = self._of_installation(
            "sso_mail_oldest_waiting_seconds",
            "The age of the oldest mail that waits, by whose server it waits for.",
            "server",
        )
        self._oldest_mail = mail.labels(MailServerKind.PLATFORM.value)
        self._oldest_routed_mail = mail.labels(MailServerKind.ORGANIZATION.value)
        self._sealing_lag = self._of_installation(
            "sso_audit_sealing_lag_seconds", "The age of the oldest audit entry that is not sealed."
        )
        self._failing_streams = self._of_installation(
            "sso_siem_streams_failing", "SIEM streams whose last attempt failed."
        )
        self._backup = self._of_installation(
            "sso_backup_last_success_timestamp_seconds", "When the last backup was made; 0 if none ever was."
        )
        self._restore_drill = self._of_installation(
            "sso_restore_drill_last_success_timestamp_seconds",
            "When restoring a backup was last tried with success; 0 if it never was.",
        )

        self._cluster_nodes = self._of_installation(
            "sso_cluster_nodes",
            "Nodes of the database's cluster beside its coordinator, by whether they answer.",
            "state",
        )
        self._node_shards = self._of_installation(
            "sso_cluster_node_shards", "Shards of each log on a node of the database's cluster.", "node"
        )
        self._node_bytes = self._of_installation(
            "sso_cluster_node_bytes", "Bytes that a node of the database's cluster holds; 0 while it is down.", "node"
        )
        self._known_nodes = set[str]()
        self._cancelled = self._counter(
            "sso_db_statements_cancelled_total",
            "Statements that PostgreSQL has cancelled, by the limit that they have reached.",
            limit=StatementLimit,
        )
        # Whose statements they were, apart: use cases are too many for a series of each from the start.
        self._cancelled_use_cases = self._counter(
            "sso_db_use_cases_cancelled_total",
            "Statements that PostgreSQL has cancelled, by the use case and by the limit; each series begins at 1.",
            "use_case",
            "limit",
        )
        self._connect_failures = self._counter(
            "sso_db_connect_failures_total",
            "Attempts to connect to the database that have failed, by the reason.",
            reason=ConnectFailure,
        )
        self._spans_exported = self._counter(
            "sso_trace_spans_exported_total", "Spans of traces that the collector has taken."
        )
        self._spans_dropped = self._counter(
            "sso_trace_spans_dropped_total",
            "Spans of traces that were dropped: the queue was full, or the collector did not take them.",
            reason=SpanLoss,
        )

    def mail_attempted(self, server: MailServerKind, outcome: MailOutcome) -> None:
        self._mails.labels(server.value, outcome.value).inc()

    def webhook_attempted(self, outcome: AttemptOutcome) -> None:
        self._webhook_attempts.labels(outcome.value).inc()

    def siem_attempted(self, outcome: AttemptOutcome, *, lag_seconds: float | None) -> None:
        self._siem_attempts.labels(outcome.value).inc()
        if lag_seconds is not None:
            self._siem_lag.observe(lag_seconds)

    def subscription_reconciled(self, outcome: ReconciliationOutcome) -> None:
        self._reconciliations.labels(outcome.value).inc()

    def limit_refused(self, limit: str, reason: str) -> None:
        self._limits.labels(limit, reason).inc()

    def connection_refused(self, reason: ConnectionRefusal) -> None:
        self._refused_connections.labels(reason.value).inc()

    def connection_opened(self) -> None:
        self._connections += 1
        self._open_connections.set(self._connections)

    def connection_closed(self) -> None:
        self._connections -= 1
        self._open_connections.set(self._connections)

    def usage_measured(self, usage: ProcessUsage) -> None:
        # A replaced worker begins at zero, and its count goes on.
        self._cpu.inc(max(0.0, usage.cpu_seconds - self._cpu_seconds))
        self._cpu_seconds = usage.cpu_seconds
        self._resident.set(usage.resident_bytes)
        if usage.proportional_bytes is not None:
            self._memory.labels(self._worker, "proportional").set(usage.proportional_bytes)

    def data_folder_measured(self, space: FolderSpace) -> None:
        self._free.set(space.free_bytes)
        self._size.set(space.size_bytes)

    def work_overdue(self, seconds: Mapping[str, float]) -> None:
        for work, gauge in self._overdue.items():
            gauge.set(max(0.0, seconds.get(work, 0.0)))

    def mailboxes_measured(self, loads: Mapping[str, MailboxLoad]) -> None:
        for actor, load in loads.items():
            self._messages.labels(actor).set(load.messages)
            self._oldest_message.labels(actor).set(load.oldest_seconds)

    def backlog_measured(self, backlog: Backlog) -> None:
        self._oldest_mail.set(backlog.mail_seconds)
        self._oldest_routed_mail.set(backlog.routed_mail_seconds)
        self._sealing_lag.set(backlog.unsealed_seconds)
        self._failing_streams.set(backlog.failing_streams)
        self._backup.set(backlog.backup_seconds)
        self._restore_drill.set(backlog.restore_drill_seconds)

    def cluster_measured(self, cluster: Cluster) -> None:
        down = len(cluster.down)
        self._cluster_nodes.labels("up").set(len(cluster.nodes) - down)
        self._cluster_nodes.labels("down").set(down)
        for name in self._known_nodes - {node.name for node in cluster.nodes}:
            self._node_shards.labels(name).set(0)
            self._node_bytes.labels(name).set(0)
        for node in cluster.nodes:
            self._known_nodes.add(node.name)
            self._node_shards.labels(node.name).set(node.shards)
            self._node_bytes.labels(node.name).set(node.bytes)

    def statement_cancelled(self, use_case: str, limit: StatementLimit) -> None:
        self._cancelled.labels(limit.value).inc()
        self._cancelled_use_cases.labels(use_case, limit.value).inc()

    def connect_failed(self, reason: ConnectFailure) -> None:
        self._connect_failures.labels(reason.value).inc()

    def spans_exported(self, spans: int) -> None:
        self._spans_exported.inc(spans)

    def spans_dropped(self, spans: int, reason: SpanLoss) -> None:
        self._spans_dropped.labels(reason.value).inc(spans)

    def _counter(self, name: str, meaning: str, *labels: str, **started: Iterable[StrEnum]) -> Counter:
        """Return a counter with these labels, or with one label and its values, whose series exist from the start."""
        counter = Counter(name, meaning, (*labels, *started), registry=self._registry)
        for values in started.values():
            for value in values:
                counter.labels(value.value)
        return counter

    def _gauge(self, name: str, meaning: str, *labels: str, mode: Mode) -> Gauge:
        return Gauge(name, meaning, labels, registry=self._registry, multiprocess_mode=mode)

    def _of_installation(self, name: str, meaning: str, *labels: str) -> Gauge:
        return self._gauge(name, meaning, *labels, mode="max")
