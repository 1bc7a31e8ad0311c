"""The few numbers about the whole platform that operators watch (operations 4.11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformFigures:
    """What the gauges show; taken every 30 seconds."""

    active_users: int
    organizations: int
    mfa_users: int
    queued_mails: int

    @property
    def mfa_adoption_percentage(self) -> float:
        """The share of active users with multi-factor authentication, 0 to 100."""
        return 100.0 * self.mfa_users / self.active_users if self.active_users else 0.0


def platform(uow: UnitOfWork) -> PlatformFigures:
    """Take the figures."""
    return uow.figures.platform()


def probe(uow: UnitOfWork) -> None:
    """Ask the database something trivial; that it answers is the answer (operations 4.11, readiness)."""
    uow.figures.probe()


def database_time(uow: UnitOfWork) -> datetime:
    """Ask the database for its time, to compare it with ours."""
    return uow.figures.database_time()
