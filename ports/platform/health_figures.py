"""What the gauges ask of the stored data."""

from datetime import datetime
from typing import Protocol

from core.platform.health_figures import PlatformFigures


class Figures(Protocol):
    """Counts, cheap enough to be asked twice a minute on a large installation."""

    def platform(self) -> PlatformFigures:
        """Count users, organizations, multi-factor users and waiting work."""
        ...

    def probe(self) -> None:
        """Run one trivial statement."""
        ...

    def database_time(self) -> datetime:
        """Ask the database what time it is there."""
        ...
