"""Figures about the whole platform for operators (operations 4.11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformFigures:
    """The values of the gauges, read every 30 seconds."""

    active_users: int
    organizations: int
    mfa_users: int
    queued_mails: int
    queued_deliveries: int

    @property
    def mfa_adoption_percentage(self) -> float:
        """The share of active users with multi-factor authentication, 0 to 100."""
        return 100.0 * self.mfa_users / self.active_users if self.active_users else 0.0


def platform(uow: UnitOfWork) -> PlatformFigures:
    """Return the current figures."""
    return uow.figures.platform()


def probe(uow: UnitOfWork) -> None:
    """Check that the database answers and takes writes (operations 4.11, readiness)."""
    uow.figures.probe()


def database_time(uow: UnitOfWork) -> datetime:
    """Return the time of the database's clock, to compare it with this host's."""
    return uow.figures.database_time()
