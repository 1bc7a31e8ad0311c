"""The metrics: recorded as domain events, exposed in the format of Prometheus (`ops/docs/monitoring.md` lists them).

Every text that is passed in becomes a label, and every combination of labels stays in memory as long as the process.
So each text must come from a bounded vocabulary and never directly from a request.
"""

from typing import Final, Protocol

from core.platform.health_figures import PlatformFigures
from core.sign_in.reasons import CountedReason
from ports.listening import PollingRole
from ports.metrics_of_work import PasswordCheckOutcome, RequestKind, WorkMetrics

EXPOSITION_CONTENT_TYPE: Final = "text/plain; version=0.0.4"


class PoolStatistics(Protocol):
    """The numbers of connections of a pool."""

    @property
    def total(self) -> int:
        """The open connections."""
        ...

    @property
    def idle(self) -> int:
        """The open connections that are not in use."""
        ...

    @property
    def maximum(self) -> int:
        """The limit on open connections."""
        ...


class ConnectionPool(Protocol):
    """A pool of database connections."""

    def shrink(self) -> None:
        """Close the connections that were idle for long."""
        ...

    def statistics(self) -> PoolStatistics:
        """Return the numbers of connections, without a query."""
        ...


class ReplicaMetrics(Protocol):
    """Records which replica was read; a replica's name is the list of its servers in the settings."""

    def read_elsewhere(self, place: str) -> None:
        """Record the place, a replica or the primary, where a use case has read what may be read from a replica."""
        ...

    def replica_seen(self, replica: str, *, lag_seconds: float | None, is_in_use: bool) -> None:
        """Expose how far behind a replica is, None when that is unknown, and whether it is in use."""
        ...


class Metrics(WorkMetrics, ReplicaMetrics, Protocol):
    """Records measurements. Every recording method is fast and never fails."""

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
        """Record a request; the route is a template, or one fixed word for all paths without a route.

        If `is_external`, it is counted apart from failures of this installation, whatever its status. Without a `kind`
        it counts towards no objective.
        """
        ...

    def may_fail_outside(self, route: str) -> None:
        """Expose the counter of external failures of a route from now on, also while it is 0."""
        ...

    def job_finished(self, job_type: str, seconds: float) -> None:
        """Record a background job that has ended, successfully or not."""
        ...

    def webhook_delivered(self, seconds: float) -> None:
        """Record the time from an event to the delivery of its webhook."""
        ...

    def login_failed(self, reason: CountedReason) -> None:
        """Record a refused sign-in."""
        ...

    def password_checked(self, outcome: PasswordCheckOutcome) -> None:
        """Record the outcome of looking for a password among breached ones."""
        ...

    def token_issued(self) -> None:
        """Record an issued access token."""
        ...

    def figures_refreshed(self, figures: PlatformFigures) -> None:
        """Expose these figures from now on."""
        ...

    def clock_compared(self, error_seconds: float) -> None:
        """Expose by how much the clock of the machine, or of the database, is ahead of the time of this process."""
        ...

    def processes_counted(self, number: int) -> None:
        """Expose how many processes live, as this one has heard last."""
        ...

    def polling_changed(self, role: PollingRole) -> None:
        """Expose what this process does about polling from now on."""
        ...

    def audit_entries_unsealed(self, entries: int) -> None:
        """Expose how many audit entries of all organizations are not sealed yet."""
        ...

    def pool_measured(self, statistics: PoolStatistics) -> None:
        """Expose these numbers of connections from now on."""
        ...

    def actor_changed(self, name: str, *, is_up: bool) -> None:
        """Record whether an actor is running."""
        ...

    def actor_restarted(self, name: str) -> None:
        """Record the restart of an actor after a crash."""
        ...

    def exposition(self) -> bytes:
        """Return all metrics in the text format of Prometheus.

        This takes milliseconds on a busy installation, so it is best called in a thread.
        """
        ...
