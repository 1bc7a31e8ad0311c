"""Figures of the stored data for the metrics."""

from datetime import datetime
from typing import Protocol

from core.platform.health_figures import Backlog, PlatformFigures


class Figures(Protocol):
    """Figures that are kept in one row, and counted at a bounded cost."""

    def platform(self) -> PlatformFigures | None:
        """Return the kept figures; None when there are none."""
        ...

    def count(self, waiting: Backlog, *, certificates_before: datetime) -> PlatformFigures | None:
        """Renew the kept figures by one statement and return them; None when there are none yet.

        The certificates that end before that time are counted.
        """
        ...

    def count_accounts(self) -> None:
        """Make the kept figures from a count of all accounts, unless there are some."""
        ...

    def backlog(self) -> Backlog:
        """Return how much waits now, at a bounded cost; long queues are estimated."""
        ...

    def probe(self) -> None:
        """Run trivial statements; fail when the server takes no writes.

        Raise `SchemaTooNew` when a newer version has migrated the database and this one does not work with that.
        If the writes of this process failed last, try to write, and raise `WritesFailing` when that fails as well.
        """
        ...

    def database_time(self) -> datetime:
        """Return the time of the database's clock."""
        ...
