"""The metrics of reading from replicas, with prometheus-client: the port `ReplicaMetrics`."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class PrometheusReplicaMetrics:
    """The port `ReplicaMetrics`, in the registry of a process; without replicas there are no series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reads = Counter(
            "sso_db_reads_elsewhere_total",
            "Use cases that read what may be read from a replica, by the place that answered: a replica or primary.",
            ("place",),
            registry=registry,
        )
        # The worst process counts.
        self._lag = Gauge(
            "sso_db_replica_lag_seconds",
            "How far a replica is behind the primary, as the last look has found it.",
            ("replica",),
            registry=registry,
            multiprocess_mode="max",
        )
        self._in_use = Gauge(
            "sso_db_replica_in_use",
            "Whether a replica is read from.",
            ("replica",),
            registry=registry,
            multiprocess_mode="min",
        )

    def read_elsewhere(self, place: str) -> None:
        self._reads.labels(place).inc()

    def replica_seen(self, replica: str, *, lag_seconds: float | None, is_in_use: bool) -> None:
        self._in_use.labels(replica).set(is_in_use)
        if lag_seconds is not None:
            self._lag.labels(replica).set(lag_seconds)
