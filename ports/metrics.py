"""What operators measure (operations 4.11): told in the words of what happened, exposed in the words of Prometheus.

Every text that is passed in becomes a label, and every combination of labels lives as long as the process. So each
comes from a vocabulary of our own; what a stranger can choose never gets here unbounded.
"""

from typing import Final, Protocol

from core.platform.health_figures import PlatformFigures

EXPOSITION_CONTENT_TYPE: Final = "text/plain; version=0.0.4"


class PoolStatistics(Protocol):
    """How many connections there are, how many of them wait for work, and how many there may be."""

    @property
    def total(self) -> int:
        """Connections that exist."""
        ...

    @property
    def idle(self) -> int:
        """Those that nobody uses."""
        ...

    @property
    def maximum(self) -> int:
        """How many there may be."""
        ...


class ConnectionPool(Protocol):
    """Something that counts its connections, without asking the database."""

    def statistics(self) -> PoolStatistics:
        """Count the connections."""
        ...


class Metrics(Protocol):
    """Takes note of what happens. Every method is quick and never fails."""

    def request_finished(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note an answered request; the route is a template, or one word for all paths that match none."""
        ...

    def job_finished(self, job_type: str, seconds: float) -> None:
        """Note a piece of background work that was dealt with, well or not."""
        ...

    def webhook_delivered(self, seconds: float) -> None:
        """Note how long after its event a webhook was delivered."""
        ...

    def login_failed(self, reason: str) -> None:
        """Note a refused sign-in."""
        ...

    def token_issued(self) -> None:
        """Note an access token."""
        ...

    def figures_taken(self, figures: PlatformFigures) -> None:
        """Show these figures from now on."""
        ...

    def pool_measured(self, statistics: PoolStatistics) -> None:
        """Show these connections from now on."""
        ...

    def actor_changed(self, name: str, *, is_up: bool) -> None:
        """Note that an actor runs, or no longer does."""
        ...

    def actor_restarted(self, name: str) -> None:
        """Note that an actor is run again after a crash."""
        ...

    def exposition(self) -> bytes:
        """Write everything down for Prometheus. Milliseconds on a busy installation: best called on a thread."""
        ...
