"""Figures of the stored data for the gauges."""

from datetime import datetime
from typing import Protocol

from core.platform.health_figures import PlatformFigures


class Figures(Protocol):
    """Counts that are cheap enough to be read twice a minute on a large installation."""

    def platform(self) -> PlatformFigures:
        """Count active users, those with a second factor, organizations and queued mails."""
        ...

    def probe(self) -> None:
        """Run one trivial statement; fail when the server takes no writes."""
        ...

    def database_time(self) -> datetime:
        """Return the time of the database's clock."""
        ...
